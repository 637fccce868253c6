// cli/collect/process_files.h: what the kernel says about one process, and its files, as seen from its own root.
//
// Guarantees
//  - Keeps /proc/PID open: a process that gets the same pid later is never taken for this one.
//  - A path is opened inside the target's root (symbolic links included), or in the collector's root if the target's
//    has no such file. It is opened only if it names a regular file, so a target's path cannot make the collector open
//    a device or wait for a FIFO. A path that means the process itself (/proc/self, /dev/fd) is never resolved for the
//    collector: such a file is opened through its mapping.
// Trust:    paths come from the target.
#pragma once

#include "cli/base/fd.h"

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace heapprof::cli {

class ProcessFiles {
 public:
  explicit ProcessFiles(pid_t pid);

  uint64_t resident_bytes() const;  // 0: unknown
  // `id` as the process itself sees it, in its own pid namespace.
  bool is_thread_gone(uint32_t id);      // false also if it cannot be known
  std::string thread_name(uint32_t id);  // empty: unknown

  // nullptr: it cannot be opened, or the limit of open files is reached.
  std::shared_ptr<UniqueFd> open_executable();  // only once
  std::shared_ptr<UniqueFd> open_path(const std::string& path);
  // The file that is mapped at the address, even if it was deleted or replaced, or never had a name. Needs
  // CAP_CHECKPOINT_RESTORE. Cost: the mappings are read again only if the address is in none that were read before. An
  // attach asks for each of a program's libraries, and there may be tens of thousands of mappings.
  std::shared_ptr<UniqueFd> open_mapped(uint64_t avma);
  // The file /tmp/perf-PID.map in the process's own /tmp, with its pid in its own namespace; also after the process has
  // ended. The file must belong to the process's user or to root.
  std::shared_ptr<UniqueFd> open_jit_map();

 private:
  std::string task_path(uint32_t id, const char* file);
  void read_namespace();
  void map_threads();
  void read_mapped();
  UniqueFd open_range(uint64_t avma);
  std::shared_ptr<UniqueFd> reopen(UniqueFd path_only);

  UniqueFd process_;     // /proc/PID
  UniqueFd root_;        // its root directory
  UniqueFd tmp_;         // /tmp there
  std::string own_id_;   // its pid in its own namespace
  uid_t user_ = 0;       // whose it is
  UniqueFd executable_;  // opened at once: a short program may have deleted its file and ended before the first drain
  UniqueFd statm_;
  uint64_t page_bytes_;
  size_t files_left_;
  bool has_own_namespace_ = false;
  std::unordered_map<uint32_t, uint32_t> host_ids_;  // thread id in its namespace → in the collector's
  uint64_t mapped_at_ns_ = 0;
  struct Range {
    uint64_t start;
    uint64_t end;
  };
  std::vector<Range> mapped_;  // where files were mapped when the mappings were last read, by address
};

}  // namespace heapprof::cli
