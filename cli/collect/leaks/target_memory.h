// cli/collect/leaks/target_memory.h: reads another process's memory: its words, its mappings, which pages it has.
//
// Guarantees
//  - Nothing is changed there, and no page is read that the process never had: that would be one more page of zeros.
//    (A short range is read in windows, and may touch such a page beside it: that costs the process no memory.)
//  - What cannot be read is counted, and never made up.
// Not provided: file pages and shared pages that the system has taken from the process meanwhile are not read.
// Context:  one thread. The process is a child of ours, or one of a child's: Yama's ptrace_scope 1 allows it.
// Trust:    every byte is the target's.
// Cost:     process_vm_readv: 3-5 µs for 16 KiB, about 0.2 ns a byte in large pieces; 64 MiB for windows.
#pragma once

#include "cli/base/fd.h"
#include "cli/collect/leaks/leak_marks.h"

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace heapprof::cli {

// A line of /proc/PID/maps.
struct TargetMapping {
  MemoryRange range;
  bool is_readable = false;
  bool is_writable = false;
  bool is_executable = false;
  bool is_shared = false;
  uint64_t file_off = 0;
  uint64_t inode = 0;
  std::string path;  // as it stands there: "[heap]", "/lib/libc.so.6", "/memfd:x (deleted)"; empty: anonymous

  uint64_t bytes() const { return range.end - range.start; }
  bool is_of_file() const { return !path.empty() && path[0] == '/'; }
};

std::vector<TargetMapping> parse_mappings(const std::string& text);

class TargetMemory : public WordSource {
 public:
  explicit TargetMemory(pid_t pid);

  // Why it cannot be read, "process_vm_readv: Operation not permitted"; empty: it can.
  std::string try_at(uint64_t address);
  // By address; empty: they cannot be read.
  const std::vector<TargetMapping>& mappings() const { return mappings_; }
  // Where the heap of brk begins; 0: unknown.
  uint64_t heap_start() const { return heap_start_; }

  void visit(MemoryRange range, const Visit& visit) override;
  bool is_vtable(uint64_t address) override;
  bool read(uint64_t address, void* to, size_t bytes);
  // Pages of a private mapping that are not the file's any more.
  std::vector<MemoryRange> changed_pages(MemoryRange range);

  uint64_t read_bytes() const { return read_bytes_; }
  uint64_t unread_bytes() const { return unread_bytes_; }
  bool is_gone() const { return is_gone_; }  // the process ended meanwhile

 private:
  struct Window {
    uint64_t start = UINT64_MAX;
    uint64_t bytes = 0;  // that could be read
  };

  size_t read_some(uint64_t address, void* to, size_t bytes);
  uint64_t* window_of(uint64_t address, uint64_t* bytes);
  void visit_piece(MemoryRange piece, const Visit& visit);
  template <typename IsWanted>
  std::vector<MemoryRange> pages_in(MemoryRange range, const IsWanted& is_wanted);

  pid_t pid_;
  UniqueFd pagemap_;
  std::vector<TargetMapping> mappings_;
  uint64_t heap_start_ = 0;
  std::vector<Window> windows_;
  // Left as the system gives them: what is not used is never touched.
  std::unique_ptr<uint64_t[]> window_words_;
  std::unique_ptr<uint64_t[]> piece_words_;
  uint64_t read_bytes_ = 0;
  uint64_t unread_bytes_ = 0;
  bool is_gone_ = false;
};

}  // namespace heapprof::cli
