// cli/merge/merge_files.cc: reading files takes most of the time, so cores share only the number of the next file. At
// the end their sums are added up like files.
#include "cli/merge/merge_files.h"

#include "cli/base/file_name.h"
#include "cli/model/compare/merge_profiles.h"
#include "cli/read/read_profile.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

namespace heapprof::cli {
namespace {

constexpr unsigned kMostCores = 16;  // each holds a sum

struct FileShare {
  ProfileMerger merger;
  std::string first_file;
  size_t first = 0;  // the number of that file
};

class FilesMerge {
 public:
  FilesMerge(const std::vector<std::string>& files, const std::function<void(size_t)>& done)
      : files_(files), done_(done), read_(files.size()) {}

  Result<MergedFiles> run() {
    const size_t cores = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, kMostCores);
    std::vector<FileShare> shares(std::min(cores, files_.size()));
    std::vector<std::thread> threads;
    for (size_t i = 1; i < shares.size(); ++i) threads.emplace_back([this, share = &shares[i]] { work(share); });
    work(&shares[0]);
    for (std::thread& thread : threads) thread.join();
    if (problem_) return *problem_;
    std::erase_if(shares, [](const FileShare& share) { return share.merger.inputs() == 0; });
    // The first file first: if sums do not add up, that file is named first.
    std::sort(shares.begin(), shares.end(), [](const FileShare& a, const FileShare& b) { return a.first < b.first; });
    for (size_t i = 1; i < shares.size(); ++i) {
      const Result<Done> added = shares[0].merger.add(shares[i].merger.take(), shares[i].first_file);
      if (!added) return added.problem();
    }
    return MergedFiles{shares[0].merger.take(), std::move(read_)};
  }

 private:
  void work(FileShare* share) {
    // (A) Only the number itself is shared: relaxed.
    for (size_t at = next_.fetch_add(1, std::memory_order_relaxed); at < files_.size();
         at = next_.fetch_add(1, std::memory_order_relaxed)) {
      if (!add(share, at)) return;
    }
  }

  bool add(FileShare* share, size_t at) {
    const std::string& path = files_[at];
    Result<Profile> profile = read_profile(path);
    if (!profile) return fail(at, profile.problem());
    const RunInfo& run = profile->run;
    read_[at] = {path,
                 base_name(path),
                 run.pid,
                 run.image,
                 run.start_unix_ns,
                 profile->snapshots.snapshots.size(),
                 !profile->merged.empty()};
    if (share->merger.inputs() == 0) {
      share->first_file = path;
      share->first = at;
    }
    if (const Result<Done> added = share->merger.add(std::move(*profile), path); !added)
      return fail(at, added.problem());
    const std::lock_guard lock(mutex_);
    done_(++count_);
    return !problem_;
  }

  // If there are several problems, the first file's is reported, whichever thread was faster.
  bool fail(size_t at, const Problem& problem) {
    const std::lock_guard lock(mutex_);
    if (!problem_ || at < problem_at_) {
      problem_ = problem;
      problem_at_ = at;
    }
    return false;
  }

  const std::vector<std::string>& files_;
  const std::function<void(size_t)>& done_;
  std::vector<ReadFile> read_;   // the thread that took an element's number writes it
  std::atomic<size_t> next_{0};  // pairs with itself (A)
  std::mutex mutex_;             // guards the members below
  size_t count_ = 0;
  std::optional<Problem> problem_;
  size_t problem_at_ = 0;
};

}  // namespace

bool is_same_process(const ReadFile& a, const ReadFile& b) {
  return !a.is_sum && !b.is_sum && a.file == b.file && a.pid == b.pid && a.image == b.image &&
         a.start_unix_ns == b.start_unix_ns;
}

Result<MergedFiles> merge_files(const std::vector<std::string>& files, const std::function<void(size_t)>& done) {
  return FilesMerge(files, done).run();
}

}  // namespace heapprof::cli
