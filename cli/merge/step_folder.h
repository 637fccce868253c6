// cli/merge/step_folder.h: how the processes of a launcher's step tell each other where they are: small files in a
// folder that all of them see.
//
//   list.R    which profiles process R found in its folders, by what tells files apart, and its host
//   plan      of process 0: who came, in which order they are reduced, and which files each takes
//   part.R    the sum of R's files and of the sums below it
//   done.R    that part.R is there, or that there is none, or why; and who did not come below R
//   keep      of process 0: whose whole profiles are wanted
//   kept.R    that R has copied those that it has
//
// Guarantees
//  - A file appears whole (AtomicFile).
//  - Nothing is waited for longer than was said.
// Not provided: order between files of different processes on a file system that does not keep it (NFS shows a name
//           late, but never a part of a file).
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
  // None: it is not there (yet).
  std::optional<std::string> read(const std::string& name) const;
  // Waits until the file is there, at most until then (monotonic_ns()).
  std::optional<std::string> wait(const std::string& name, uint64_t until_ns) const;
  // Takes one's own file away, and the folder if it was the last.
  void leave(const std::string& name) const;
  // With everything in it that these processes wrote.
  void remove(uint64_t processes) const;

 private:
  std::string path_;
};

// What tells a file apart from others, on whatever machine it is looked at.
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

// What one process has to do. Its parent is the process whose sum its own goes into.
struct StepTask {
  uint64_t process = 0;
  uint64_t parent = 0;          // of process 0: itself
  uint64_t depth = 0;           // from process 0
  std::vector<uint64_t> files;  // of its list, from 0
};
// For those that came, with process 0 among them. A file is one process's that sees it, whichever; a host's processes
// go into the first of them, and those of hosts, eight at a time, into one.
std::vector<StepTask> make_plan(const std::vector<std::pair<uint64_t, StepList>>& lists);
std::string plan_text(const std::vector<StepTask>& plan);
std::optional<std::vector<StepTask>> parse_plan(const std::string& text);

}  // namespace heapprof::cli
