// cli/model/analysis/findings.cc: applies all rules, then sorts their findings and gives them ids.
#include "cli/model/analysis/findings.h"

#include "cli/base/file_name.h"
#include "cli/base/saturating.h"
#include "cli/model/analysis/exception_reserve.h"
#include "cli/model/analysis/finding_rules.h"
#include "cli/model/analysis/frame_name.h"
#include "cli/model/analysis/named_place.h"
#include "cli/model/analysis/python/paths.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

namespace heapprof::cli {
namespace {

// FNV-1a: the hash of a text must be the same on every machine and in every later version.
uint32_t hash_text(std::string_view text) {
  uint32_t hash = 2166136261u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

std::string make_id(const Profile& profile, const Finding& finding) {
  std::string key = profile.devices[finding.device].name;
  if (finding.has_frame) {
    const Frame& frame = profile.frames[finding.frame];
    const bool has_module = frame.module < profile.modules.size();
    key += '\n' + (frame.function.empty() ? fmt::format("{:#x}", frame.svma) : frame_name(profile, frame)) + '\n';
    key += base_name(!frame.file.empty() ? std::string_view(frame.file)
                     : has_module        ? std::string_view(profile.modules[frame.module].path)
                                         : std::string_view());
  }
  return fmt::format("{:08x}", hash_text(key));
}

void sort_findings(const Profile& profile, std::vector<Finding>* findings) {
  const auto place = [&](const Finding& finding) {
    static const Frame kNone;
    const Frame& frame = finding.has_frame ? profile.frames[finding.frame] : kNone;
    return std::tuple(finding.device, finding.kind, std::string_view(frame.function), std::string_view(frame.file),
                      frame.line, frame.svma, finding.each_bytes);
  };
  std::sort(findings->begin(), findings->end(), [&](const Finding& a, const Finding& b) {
    const FindingRank rank = rank_of(profile, a);
    if (rank != rank_of(profile, b)) return rank < rank_of(profile, b);
    if (rank == FindingRank::kTime && estimated_ns(a) != estimated_ns(b)) return estimated_ns(a) > estimated_ns(b);
    if (a.cost_bytes != b.cost_bytes) return a.cost_bytes > b.cost_bytes;
    return place(a) < place(b);
  });
}

// Findings at several lines of one function, or of several kinds, have the same id, so a number is added: "1f3a9c02.2".
// The kind is not part of the id: a longer run may show growth where a short one shows what was left at the end.
void name_findings(const Profile& profile, std::vector<Finding>* findings) {
  std::map<std::string, std::vector<Finding*>> same;
  for (Finding& finding : *findings) same[make_id(profile, finding)].push_back(&finding);
  for (auto& [id, alike] : same) {
    const auto key = [&](const Finding* finding) {
      return std::tuple(finding->has_frame ? profile.frames[finding->frame].line : 0, finding->kind,
                        finding->each_bytes);
    };
    std::stable_sort(alike.begin(), alike.end(), [&](const Finding* a, const Finding* b) { return key(a) < key(b); });
    for (size_t i = 0; i < alike.size(); ++i) alike[i]->id = i == 0 ? id : fmt::format("{}.{}", id, i + 1);
  }
}

// Whether a third of the peak has no function names, as in the warning about them (cli/model/analysis/warnings.cc).
// Then rules that look for functions of the standard library find nothing.
bool lacks_names(const Profile& profile) {
  constexpr uint64_t kSharePercent = 33;
  if (profile.devices.empty()) return false;
  uint64_t unnamed_bytes = 0;
  const PlaceTree tree = build_place_tree(profile);
  for (const Site& site : profile.devices[0].sites) {
    if (site.node == 0 || site.numbers.peak_bytes == 0) continue;
    if (find_reserve_frame(profile, site) != kNoModule) continue;
    if (find_unnamed_frame(profile, tree, site.node) != nullptr)
      unnamed_bytes = add_saturating(unnamed_bytes, site.numbers.peak_bytes);
  }
  return unnamed_bytes > 0 && is_share({unnamed_bytes, profile.devices[0].totals.peak_bytes}, kSharePercent);
}

bool is_kept(const Finding& finding) {
  switch (finding.kind) {
    case FindingKind::kGrowth: return finding.is_left;
    case FindingKind::kNeverFreed:
    case FindingKind::kSmallNeverFreed: return !finding.is_lost;
    default: return false;
  }
}

// Describes the holder of at least half of what the place left live at exit; empty if there is none.
std::string holder_of_place(const Profile& profile, const PlaceTree& tree, const Device& device, uint32_t frame) {
  uint64_t left_bytes = 0;
  for (const Site& site : device.sites) {
    const uint32_t place = tree.place_node[site.node];
    if (place != 0 && profile.nodes[place].frame == frame)
      left_bytes = add_saturating(left_bytes, site.numbers.leaked_bytes);
  }
  for (const Holder& holder : device.held_by) {
    uint64_t held_bytes = 0;
    for (const OwnerPart& part : holder.parts) {
      const uint32_t place = tree.place_node[part.node];
      if (place != 0 && profile.nodes[place].frame == frame) held_bytes = add_saturating(held_bytes, part.bytes);
    }
    if (held_bytes != 0 && held_bytes >= left_bytes / 2) return holder_words(holder);
  }
  return "";
}

}  // namespace

bool has_moments(const Profile& profile, const Device& device) {
  return profile.merged.empty() && std::max(device.moments_ns.size(), device.bounds_ns.size()) >= kGrowthMoments &&
         profile.run.duration_ns >= kShapeRunNs;
}

FindingRank rank_of(const Profile& profile, const Finding& finding) {
  constexpr uint64_t kOfLostPercent = 1;
  constexpr uint64_t kOfPeakPercent = 10;
  const Ratio of_peak{finding.cost_bytes, profile.devices[finding.device].totals.peak_bytes};
  // A place without a source file is in a program from a distribution (git, perl, a database), for which keeping its
  // input is not a problem. If its functions have no names, one place may be all that an interpreter allocates (lua).
  const bool has_source = finding.has_frame && !profile.frames[finding.frame].file.empty();
  switch (finding.kind) {
    case FindingKind::kGrowth:
    case FindingKind::kNeverFreed:
    case FindingKind::kSmallNeverFreed: {
      if (finding.is_lost) return FindingRank::kLost;
      const bool is_large = is_share(of_peak, kOfLostPercent);
      return is_large && (has_source || finding.is_by_contrast) ? FindingRank::kLost : FindingRank::kSmall;
    }
    case FindingKind::kStartPeak:
    case FindingKind::kSpike:
    case FindingKind::kOldAndNew:
    case FindingKind::kTwins:
    case FindingKind::kWholeFile:
    case FindingKind::kUntouched: return is_share(of_peak, kOfPeakPercent) ? FindingRank::kPeak : FindingRank::kSmall;
    case FindingKind::kFragmentation:
      if (!is_share(of_peak, kOfPeakPercent)) return FindingRank::kSmall;
      return finding.is_pinned ? FindingRank::kUnreturned : FindingRank::kUntrimmed;
    case FindingKind::kBacklog:
      return has_source && is_share(of_peak, kOfPeakPercent) ? FindingRank::kPeak : FindingRank::kSmall;
    case FindingKind::kStorm:
    case FindingKind::kCopies:
    case FindingKind::kChurn: return FindingRank::kTime;
  }
  return FindingRank::kTime;
}

uint64_t estimated_ns(const Finding& finding) {
  constexpr uint64_t kPairNs = 50;          // of a malloc and a free
  constexpr uint64_t kCopiedBytesANs = 5;   // by memcpy, of data that is in no cache
  constexpr uint64_t kClearedBytesANs = 2;  // pages that the kernel provides again
  // glibc moves a block that it mapped by its page tables (mremap). The limit for mapping grows with each freed block
  // that was mapped, so a smaller block may have been copied.
  constexpr uint64_t kRemappedBytes = 4 * kMiB;
  const bool is_remapped = finding.kind == FindingKind::kCopies && !finding.is_estimate && finding.cost_blocks != 0 &&
                           finding.cost_bytes / finding.cost_blocks >= kRemappedBytes;
  if (is_remapped) return 0;
  const bool is_copied = finding.kind == FindingKind::kCopies;
  const uint64_t blocks = is_copied ? 0 : finding.cost_blocks;
  const uint64_t cleared = !is_copied && finding.each_bytes >= kChurnLargeBytes ? finding.cost_bytes : 0;
  const uint64_t copied = is_copied ? finding.cost_bytes : 0;
  return add_saturating(std::min(blocks, UINT64_MAX / kPairNs) * kPairNs,
                        copied / kCopiedBytesANs + cleared / kClearedBytesANs);
}

bool is_share(Ratio ratio, uint64_t percent) {
  __extension__ using Wide = unsigned __int128;
  return Wide{ratio.part} * 100 >= Wide{ratio.whole} * percent;
}

// The frame of the function that all of a finding's memory comes from, if others call the place, too.
static uint32_t only_caller(const FindingScene& scene, uint32_t place, const CallerChain& callers) {
  if (!callers.shares.empty()) return kNoModule;
  const CallerChain all =
      find_callers(scene.profile, scene.tree, scene.device, scene.places[place], Metric::kAllocations);
  const bool is_one_of_several = all.shares.size() > 1 && all.frames.size() < callers.frames.size();
  return is_one_of_several ? callers.frames[all.frames.size()] : kNoModule;
}

Finding start_finding(const FindingScene& scene, FindingKind kind, uint32_t place,
                      const std::vector<WeightedSite>& sites) {
  Finding finding;
  finding.kind = kind;
  finding.device = scene.device_number;
  finding.frame = scene.places[place].frame;
  finding.has_frame = scene.places[place].has_frame;
  finding.callers = find_callers(scene.profile, scene.tree, scene.device, sites);
  finding.only_caller = only_caller(scene, place, finding.callers);
  return finding;
}

const char* finding_name(FindingKind kind) {
  switch (kind) {
    case FindingKind::kGrowth: return "growth";
    case FindingKind::kNeverFreed: return "never-freed";
    case FindingKind::kSmallNeverFreed: return "small-never-freed";
    case FindingKind::kStartPeak: return "start-peak";
    case FindingKind::kSpike: return "spike";
    case FindingKind::kBacklog: return "backlog";
    case FindingKind::kCopies: return "copies";
    case FindingKind::kOldAndNew: return "old-and-new";
    case FindingKind::kTwins: return "twins";
    case FindingKind::kWholeFile: return "whole-file";
    case FindingKind::kChurn: return "churn";
    case FindingKind::kStorm: return "storm";
    case FindingKind::kFragmentation: return "fragmentation";
    case FindingKind::kUntouched: return "untouched";
  }
  return "";
}

bool can_have_findings(const Profile& profile) { return profile.dialect == Dialect::kHeapprof; }

std::vector<Unasked> find_unasked(const Profile& profile, std::string_view device) {
  std::vector<Unasked> unasked;
  for (const FindingKind kind :
       {FindingKind::kGrowth, FindingKind::kStartPeak, FindingKind::kSpike, FindingKind::kBacklog}) {
    std::string without_moments;
    bool is_asked = false;
    for (const Device& other : profile.devices) {
      if ((!device.empty() && other.name != device) || is_reserved_device(other.name)) continue;
      if (has_moments(profile, other) && profile.run.duration_ns >= least_run_ns(kind)) {
        is_asked = true;
      } else {
        without_moments += (without_moments.empty() ? "" : ", ") + other.name;
      }
    }
    if (is_asked && without_moments.empty()) continue;
    const Lack lack = !profile.merged.empty()                        ? Lack::kOneRun
                      : profile.run.duration_ns < least_run_ns(kind) ? Lack::kTime
                      : is_asked                                     ? Lack::kHostMoments
                                                                     : Lack::kMoments;
    unasked.push_back({kind, is_asked ? without_moments : "", lack});
  }
  const bool is_one_run = profile.merged.empty();
  const bool is_of_host = device.empty() || device == "host";
  if (is_of_host && (!is_one_run || !profile.run.complete || profile.run.sampling.has_any())) {
    for (const FindingKind kind : {FindingKind::kFragmentation, FindingKind::kUntouched})
      unasked.push_back({kind, "", is_one_run ? Lack::kEveryBlock : Lack::kOneRun});
  }
  const bool has_ended = profile.run.end.kind == EndKind::kExited || (is_one_run && profile.run.leak_check.is_made);
  if (!has_ended) unasked.push_back({FindingKind::kNeverFreed, "", is_one_run ? Lack::kEnd : Lack::kOneRun});
  if (!has_ended || !is_one_run)
    unasked.push_back({FindingKind::kSmallNeverFreed, "", is_one_run ? Lack::kEnd : Lack::kOneRun});
  if (lacks_names(profile)) {
    for (const FindingKind kind :
         {FindingKind::kCopies, FindingKind::kOldAndNew, FindingKind::kTwins, FindingKind::kWholeFile})
      unasked.push_back({kind, "", Lack::kNames});
  }
  return unasked;
}

std::vector<Finding> find_findings(const Profile& profile, const PlaceTree& tree, std::vector<Finding>* brief_growth) {
  std::vector<Finding> findings;
  uint64_t imports_ns = 0;
  for (uint32_t number = 0; number < profile.devices.size(); ++number) {
    const Device& device = profile.devices[number];
    // Skips reserved addresses without memory, and pages of files, which the kernel drops when it needs memory.
    if (is_reserved_device(device.name) || is_file_device(device.name)) continue;
    const std::vector<Place> places = find_places(profile, tree, device);
    FindingScene scene{profile, tree, number, device, places, std::vector<uint32_t>(device.sites.size())};
    for (uint32_t place = 0; place < places.size(); ++place) {
      for (const uint32_t site : places[place].sites) scene.place_of_site[site] = place;
    }
    if (number == 0) imports_ns = imports_end_ns(scene);
    scene.imports_end_ns = imports_ns;
    find_growth(scene, &findings);
    if (device.name == kPythonDevice) continue;  // Python objects are small, and short-lived or kept to the end
    if (!is_mapped_device(device.name)) {        // programs usually leave mapped pages to the kernel at exit
      find_never_freed(scene, &findings);
      find_small_never_freed(scene, &findings);
    }
    find_start_peak(scene, &findings);
    find_backlog(scene, &findings);
    find_spike(scene, &findings);
    find_copies(scene, &findings);
    find_old_and_new(scene, &findings);
    find_twins(scene, &findings);
    find_whole_files(scene, &findings);
    find_churn(scene, &findings);
    if (number != 0) continue;
    find_storms(scene, &findings);  // device memory is not allocated in tiny blocks
    find_fragmentation(scene, &findings);
    find_untouched(scene, &findings);
  }
  const auto brief =
      std::stable_partition(findings.begin(), findings.end(), [](const Finding& finding) { return !finding.is_brief; });
  if (brief_growth != nullptr)
    brief_growth->assign(std::make_move_iterator(brief), std::make_move_iterator(findings.end()));
  findings.erase(brief, findings.end());
  // The user cannot change what a library does while it is imported.
  std::erase_if(findings, [&](const Finding& finding) {
    return finding.has_frame && is_python_mark(profile, profile.frames[finding.frame]);
  });
  for (Finding& finding : findings) {
    if (!finding.has_frame) continue;
    const Device& device = profile.devices[finding.device];
    if (const NamedMemory* named = find_name_of_place(profile, tree, device, finding.frame))
      finding.memory_name = shown_name(*named);
    if (is_kept(finding)) finding.held_by = holder_of_place(profile, tree, device, finding.frame);
  }
  sort_findings(profile, &findings);
  name_findings(profile, &findings);
  return findings;
}

}  // namespace heapprof::cli
