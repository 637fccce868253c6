// cli/collect/leaks/target_memory.h: reads another process's memory: its words, its mappings, which pages it has.
//
// Guarantees
//  - Nothing is changed there: only pages are read that the process has. One that it does not have would be one more
//    page of zeros, or, of a file with holes that it shares, a new block of that file. (A table of virtual functions is
//    looked for in a file's private pages even so: those are the file's own, and stay what they are.)
//  - What cannot be read is counted, and never made up.
//  - When the process is gone, or the interrupt says so, nothing is read any more, and every call returns soon.
// Not provided: shared pages that the process does not have at the moment, as it never looked at them or as the system
//           has taken them, are not read, and count as unread.
// Context:  one thread. The process is a child of ours, or one of a child's: Yama's ptrace_scope 1 allows it.
// Trust:    every byte is the target's.
// Cost:     process_vm_readv: 3-5 µs for 16 KiB, about 0.2 ns a byte in large pieces; for windows 64 MiB, up to 512
//           where so much is to be read in small parts, in any order.
#pragma once

#include "cli/base/fd.h"
#include "cli/collect/leaks/leak_marks.h"

#include <sys/types.h>

#include <bitset>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
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
  static constexpr uint64_t kWindowBytes = 16 << 10;

  // pid: of any thread of it that lives. windows: how many pieces of kWindowBytes will be read in small parts, in any
  // order: so many are kept, but for bounds.
  explicit TargetMemory(pid_t pid, size_t windows = 0);

  // Why it cannot be read, "process_vm_readv: Operation not permitted"; empty: it can.
  std::string try_at(uint64_t address);
  pid_t pid() const { return pid_; }
  // By address; empty: they cannot be read.
  const std::vector<TargetMapping>& mappings() const { return mappings_; }
  const TargetMapping* mapping_of(uint64_t address) const;
  // Where the heap of brk begins; 0: unknown.
  uint64_t heap_start() const { return heap_start_; }

  // Asked before every system call or so; true: stop.
  void set_interrupt(std::function<bool()> has_to_stop) { has_to_stop_ = std::move(has_to_stop); }
  bool is_stopped();
  // As where the kernel has no PAGEMAP_SCAN.
  void forgo_scan() { can_scan_ = false; }

  void visit(MemoryRange range, const Visit& visit) override;
  bool is_vtable(uint64_t address) override;
  bool read(uint64_t address, void* to, size_t bytes);
  // Pages of a private mapping that are not the file's any more.
  std::vector<MemoryRange> changed_pages(MemoryRange range);
  // What of the range the process has, in memory or swapped out. Where the kernel does not tell: all of it.
  std::vector<MemoryRange> pages_of(MemoryRange range);
  // The same of a private mapping without a file, but for pages of which it only read that they are zero: these are the
  // system's. Before Linux 6.7 pages that it shares with a forked process are left out as well.
  std::vector<MemoryRange> written_pages(MemoryRange range);
  bool has_page(uint64_t address);
  // Of some range it was not known which pages there are.
  bool has_unknown_pages() const { return has_unknown_pages_; }
  // False: the kernel does not tell (it was built without pagemap).
  bool tells_pages() const { return pagemap_.is_open(); }
  // What is known of memory that was not searched, and is not asked for either.
  void add_unread(uint64_t bytes) { unread_bytes_ += bytes; }

  uint64_t read_bytes() const { return read_bytes_; }
  uint64_t unread_bytes() const { return unread_bytes_; }
  bool is_gone() const { return is_gone_; }  // the process ended meanwhile

 private:
  struct Window {
    uint64_t start = UINT64_MAX;
    uint64_t bytes = 0;  // that could be read
    uint8_t unread = 0;  // bits of pages that the process has, and that could not be read
  };
  // Which of the pages from `first_page` on the process has.
  struct PageBits {
    uint64_t first_page = UINT64_MAX;
    std::bitset<512> has;
  };

  size_t read_some(uint64_t address, void* to, size_t bytes);
  const Window& window_of(uint64_t address, uint64_t** words);
  void visit_piece(MemoryRange piece, const Visit& visit);
  enum class Kind { kAll, kChanged, kWritten };
  std::vector<MemoryRange> pages_in(MemoryRange range, Kind kind);
  bool scan_pages(MemoryRange range, Kind kind, std::vector<MemoryRange>* found);
  bool list_pages(MemoryRange range, Kind kind, std::vector<MemoryRange>* found);
  void add_pages(MemoryRange pages, std::vector<MemoryRange>* found) const;
  void note_end_of(uint64_t address);

  pid_t pid_;
  UniqueFd pagemap_;
  std::vector<TargetMapping> mappings_;
  uint64_t heap_start_ = 0;
  std::vector<Window> windows_;
  std::vector<PageBits> page_bits_;
  std::unordered_map<uint64_t, bool> vtables_;  // what was asked of these addresses already
  std::function<bool()> has_to_stop_;
  // Left as the system gives them: what is not used is never touched.
  std::unique_ptr<uint64_t[]> window_words_;
  std::unique_ptr<uint64_t[]> piece_words_;
  uint64_t read_bytes_ = 0;
  uint64_t unread_bytes_ = 0;
  bool has_unknown_pages_ = false;
  bool is_gone_ = false;
  bool is_stopped_ = false;
  bool can_scan_ = true;  // the kernel has PAGEMAP_SCAN
};

// What is left of the pieces without these; both by address.
std::vector<MemoryRange> without(const std::vector<MemoryRange>& pieces, std::span<const MemoryRange> taken);
// The agent's own pages, as its table there names them; empty: it cannot be read.
std::vector<MemoryRange> read_own_pages(uint64_t table_avma, uint32_t count, TargetMemory* memory);

}  // namespace heapprof::cli
