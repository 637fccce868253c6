// cli/collect/leaks/target_memory.h: reads another process's memory: its words, its mappings, and which pages are
// present.
//
// Guarantees
//  - Nothing is changed in the process, because only present pages are read. Reading an absent one would add a page of
//    zeros to the process or, for a shared file with holes, a new block to that file. (Virtual function tables are
//    looked for in absent private pages of files as well: those are the file's own, and stay unchanged.)
//  - Unreadable memory is counted, and never replaced by made-up content.
//  - When the process is gone, or the interrupt returns true, nothing is read any more, and every call returns soon.
// Not provided: shared pages that are not present at the moment, because the process never touched them or the system
//           reclaimed them; they count as unread.
// Context:  one thread. The process is a descendant of the collector: Yama's ptrace_scope 1 allows it.
// Trust:    every byte is the target's.
// Cost:     process_vm_readv: 3-5 µs for 16 KiB, about 0.2 ns a byte in large pieces; 64 MiB for windows, up to 512 MiB
//           if that much is to be read in small parts, in any order.
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
  std::string path;  // as written there: "[heap]", "/lib/libc.so.6", "/memfd:x (deleted)"; empty: anonymous

  uint64_t bytes() const { return range.end - range.start; }
  bool is_of_file() const { return !path.empty() && path[0] == '/'; }
};

std::vector<TargetMapping> parse_mappings(const std::string& text);

class TargetMemory : public WordSource {
 public:
  static constexpr uint64_t kWindowBytes = 16 << 10;

  // pid: the id of any live thread of the process. windows: how many pieces of kWindowBytes will be read in small
  // parts, in any order: this many are cached, within bounds.
  explicit TargetMemory(pid_t pid, size_t windows = 0);

  // Why the memory at the address cannot be read, such as "process_vm_readv: Operation not permitted"; empty: it can be
  // read.
  std::string try_at(uint64_t address);
  pid_t pid() const { return pid_; }
  // By address; empty: they cannot be read.
  const std::vector<TargetMapping>& mappings() const { return mappings_; }
  const TargetMapping* mapping_of(uint64_t address) const;
  // Where the brk heap begins; 0: unknown.
  uint64_t heap_start() const { return heap_start_; }

  // has_to_stop is called before about every system call; if it returns true, nothing is read any more.
  void set_interrupt(std::function<bool()> has_to_stop) { has_to_stop_ = std::move(has_to_stop); }
  bool is_stopped();
  // Behaves as if the kernel had no PAGEMAP_SCAN.
  void forgo_scan() { can_scan_ = false; }

  void visit(MemoryRange range, const Visit& visit) override;
  bool is_vtable(uint64_t address) override;
  bool read(uint64_t address, void* to, size_t bytes);
  // The pages of a private mapping that no longer come from the file, because the process changed them.
  std::vector<MemoryRange> changed_pages(MemoryRange range);
  // The pages of the range that the process has, in memory or swapped out. If the kernel does not say: all of it.
  std::vector<MemoryRange> pages_of(MemoryRange range);
  // The same for a private mapping without a file, except pages that it only read: these are the system's zero page.
  // Before Linux 6.7 pages that it shares with a forked process are left out as well.
  std::vector<MemoryRange> written_pages(MemoryRange range);
  bool has_page(uint64_t address);
  // Whether there was a range of which the present pages are unknown.
  bool has_unknown_pages() const { return has_unknown_pages_; }
  // Whether the kernel says which pages are present. It does not if it was built without pagemap.
  bool tells_pages() const { return pagemap_.is_open(); }
  // Counts memory that is known not to be searched.
  void add_unread(uint64_t bytes) { unread_bytes_ += bytes; }

  uint64_t read_bytes() const { return read_bytes_; }
  uint64_t unread_bytes() const { return unread_bytes_; }
  bool is_gone() const { return is_gone_; }  // the process has ended

 private:
  struct Window {
    uint64_t start = UINT64_MAX;
    uint64_t bytes = 0;  // how many of its bytes could be read
    uint8_t unread = 0;  // a bit for each present page that could not be read
  };
  // Which pages from `first_page` on are present.
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
  std::unordered_map<uint64_t, bool> vtables_;  // the answers for these addresses so far
  std::function<bool()> has_to_stop_;
  // Uninitialised: unused parts are never touched.
  std::unique_ptr<uint64_t[]> window_words_;
  std::unique_ptr<uint64_t[]> piece_words_;
  uint64_t read_bytes_ = 0;
  uint64_t unread_bytes_ = 0;
  bool has_unknown_pages_ = false;
  bool is_gone_ = false;
  bool is_stopped_ = false;
  bool can_scan_ = true;  // the kernel has PAGEMAP_SCAN
};

// The pieces without the taken ranges; both by address.
std::vector<MemoryRange> without(const std::vector<MemoryRange>& pieces, std::span<const MemoryRange> taken);
// The agent's private mappings, as its table there lists them; empty: it cannot be read.
std::vector<MemoryRange> read_own_pages(uint64_t table_avma, uint32_t count, TargetMemory* memory);

}  // namespace heapprof::cli
