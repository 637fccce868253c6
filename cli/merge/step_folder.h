// cli/merge/step_folder.h: how the processes of a job step communicate: small files in a folder that all of them see.
//
//   list.R    the profiles that process R found in its folders, by FileMark, and its host
//   plan      by process 0: the processes that came, the order of merging, and the files of each
//   part.R    the sum of R's files and of the sums below it
//   done.R    that part.R exists, or that R has nothing, or why R failed; and the missing processes below R
//   keep      by process 0: the whole profiles that are wanted
//   kept.R    that R has copied those of the wanted profiles that it merged
//
// Guarantees
//  - A file appears complete (AtomicFile).
//  - No wait is longer than its limit.
// Not provided: order between files of different processes, if the file system does not keep it (NFS may show a name
// late, but never a part of a file).
// Trust:    the folder is the user's; its bytes are checked all the same.
#pragma once

#include "cli/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

class StepFolder {
 public:
  explicit StepFolder(std::string path) : path_(std::move(path)) {}

  Result<Done> make() const;
  std::string file(const std::string& name) const { return path_ + "/" + name; }
  Result<Done> write(const std::string& name, const std::string& text) const;
  // nullopt: the file does not exist (yet).
  std::optional<std::string> read(const std::string& name) const;
  // Waits for the file, at most until until_ns (monotonic_ns()).
  std::optional<std::string> wait(const std::string& name, uint64_t until_ns) const;
  // Removes this process's own file, and the folder if that was the last.
  void leave(const std::string& name) const;
  // Removes the folder with everything that these processes wrote.
  void remove(uint64_t processes) const;

 private:
  std::string path_;
};

// Identifies a file, from whatever machine it is seen.
struct FileMark {
  uint64_t size_bytes = 0;
  int64_t modified_ns = 0;
  uint64_t inode = 0;

  auto operator<=>(const FileMark&) const = default;
};
std::optional<FileMark> mark_of(const std::string& path);

struct StepList {
  std::string host;
  std::vector<FileMark> files;
};
std::string list_text(const StepList& list);
std::optional<StepList> parse_list(const std::string& text);

// The task of one process. Its parent is the process that adds its sum.
struct StepTask {
  uint64_t process = 0;
  uint64_t parent = 0;          // of process 0: itself
  uint64_t depth = 0;           // from process 0
  std::vector<uint64_t> files;  // indexes into its list
};
// Makes the tasks of the processes that came, including process 0. A file goes to one of the processes that see it. The
// sums of a host go to the host's first process. These first processes form a tree, in which each gets the sums of at
// most eight others.
std::vector<StepTask> make_plan(const std::vector<std::pair<uint64_t, StepList>>& lists);
std::string plan_text(const std::vector<StepTask>& plan);
std::optional<std::vector<StepTask>> parse_plan(const std::string& text);

}  // namespace heapprof::cli
