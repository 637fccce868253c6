// cli/write/export/perfetto_tracks.cc: runs are sorted by begin, the longer first, so that an outer one comes before
// those inside it. Each run goes to the first track of its thread on which no open run ends before it does. Runs that
// are apart or were left skip the thread's own track.
#include "cli/write/export/perfetto_parts.h"

#include <algorithm>
#include <map>

namespace heapprof::cli {
namespace {

struct TrackRun {
  uint32_t scope = 0;
  uint32_t instance = 0;
  const ScopeInstance* it = nullptr;

  bool is_beside() const { return (it->flags & (kInstanceApart | kInstanceLeft)) != 0; }
  uint64_t end_ns() const { return std::max(it->begin_ns, it->end_ns); }
};

class OpenTrack {
 public:
  explicit OpenTrack(ScopeTrack track) : track_(std::move(track)) {}

  // Begins the run if it fits; returns false if it does not.
  bool take(const TrackRun& run) {
    close_until(run.it->begin_ns);
    if (!open_.empty() && open_.back().end_ns() < run.end_ns()) return false;
    track_.events.push_back({run.it->begin_ns, true, run.scope, run.instance});
    open_.push_back(run);
    return true;
  }

  ScopeTrack finish() {
    close_until(UINT64_MAX);
    return std::move(track_);
  }

 private:
  void close_until(uint64_t at_ns) {
    while (!open_.empty() && open_.back().end_ns() <= at_ns) {
      const TrackRun& run = open_.back();
      track_.events.push_back({run.end_ns(), false, run.scope, run.instance});
      open_.pop_back();
    }
  }

  ScopeTrack track_;
  std::vector<TrackRun> open_;  // the innermost last
};

}  // namespace

ScopeTracks find_scope_tracks(const Scopes& scopes) {
  std::map<uint32_t, std::vector<TrackRun>> by_thread;
  for (uint32_t scope = 0; scope < scopes.scopes.size(); ++scope) {
    const std::vector<ScopeInstance>& instances = scopes.scopes[scope].instances;
    for (uint32_t i = 0; i < instances.size(); ++i) by_thread[instances[i].thread].push_back({scope, i, &instances[i]});
  }
  ScopeTracks found;
  for (auto& [thread, runs] : by_thread) {
    std::stable_sort(runs.begin(), runs.end(), [](const TrackRun& a, const TrackRun& b) {
      return a.it->begin_ns != b.it->begin_ns ? a.it->begin_ns < b.it->begin_ns : a.end_ns() > b.end_ns();
    });
    std::vector<OpenTrack> tracks;
    const auto add_track = [&, id = thread] {
      tracks.emplace_back(ScopeTrack{id, static_cast<uint32_t>(tracks.size()), {}});
    };
    add_track();
    for (const TrackRun& run : runs) {
      size_t at = run.is_beside() ? 1 : 0;
      while (at < tracks.size() && !tracks[at].take(run)) ++at;
      if (at < tracks.size()) continue;
      if (tracks.size() == kMostScopeTracks) {
        ++found.left_out;
        continue;
      }
      add_track();
      tracks.back().take(run);
    }
    for (OpenTrack& track : tracks) found.tracks.push_back(track.finish());
  }
  return found;
}

}  // namespace heapprof::cli
