// agent/process/own_memory.h: reads memory of this process that may be unmapped; never faults.
//
// A program may pass an invalid pointer: the kernel answers EFAULT when it reads it, but a read by the agent would kill
// the program. So the agent has the kernel read it, too.
//
// Guarantees
//  - No address faults, whatever it is (tests/unit/agent_process, tests/integration/processes/bad_pointers.sh).
//  - What is read is a copy: a write by another thread does not change what was checked.
//  - What a program passes to a system call (read_given_…, strings) is read even if the kernel refuses process_vm_readv
//    (as a sandbox does). The agent then reads it page by page, and first asks the kernel whether the page can be read.
//    Only in that case must the memory stay mapped during the program's call, which needs that itself
//    (tests/integration/processes/sanitized_children.sh).
// Not provided: the other reads (read_own_part, read_own_memory) if the kernel refuses process_vm_readv. Under a
//               seccomp filter of the program's own the agent makes no system call, so nothing can be read. Memory
//               without a page behind it (a device's registers) cannot be read either.
// Context:  anywhere, vfork children and signal handlers included. errno is as before.
// Cost:     two system calls for each 64 KiB; on a virtual machine 1.3 µs, plus 0.5 µs for each page. Stack: 600 bytes.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace heapprof::agent {

// Copies what can be read of [from, from + bytes), from its start on. Returns how many bytes that is: all of them, or
// as many as there are before the first page that cannot be read.
size_t read_own_part(void* to, const void* from, size_t bytes);

// True if all was copied. Else the content of `to` is undefined.
bool read_own_memory(void* to, const void* from, size_t bytes);

// The same two for what the program passes.
size_t read_given_part(void* to, const void* from, size_t bytes);
bool read_given_memory(void* to, const void* from, size_t bytes);

// Returns the end of the run of readable pages that begins at `start`: the end of a page, or `start` itself if the
// first page cannot be read. It checks pages up to `wanted`. If a system call has room for more pages, it also checks
// pages up to `most`. It never asks about a page beyond both. pre: `start` is the start of a page. Cost: a system call
// for 16 pages.
uintptr_t find_readable_end(uintptr_t start, uintptr_t wanted, uintptr_t most = 0);

// False if the kernel gives no answer at all.
bool can_read_own_memory();

// True if the page that holds the address can be read at this moment. Also true if the kernel may not be asked, or does
// not answer.
bool can_read_page(uintptr_t address);

// Remembers which pages can be read. It is for many small reads of tables whose layout comes from a file: the kernel is
// asked about a page once, and the page is read directly after that. Size: 2 KiB.
// pre: nothing is unmapped while it is used (start-up; the loader's lock is held).
// Cost: 1 ns; 0.2 µs for a new page.
class ReadablePages {
 public:
  // False: a read of some of [from, from + bytes) would fault.
  bool hold(const void* from, size_t bytes) {
    const auto start = reinterpret_cast<uintptr_t>(from);
    const uintptr_t last = (start + bytes - 1) >> kPageShift;
    if (start + bytes < start) return false;
    for (uintptr_t page = start >> kPageShift; page <= last; ++page) {
      if (!holds_page(page)) return false;
    }
    return true;
  }

 private:
  static constexpr unsigned kPageShift = 12;
  static constexpr size_t kKept = 256;

  bool holds_page(uintptr_t page) {
    uintptr_t& known = pages_[page % kKept];
    if (known == page) return page != 0;
    if (!can_read_page(page << kPageShift)) return false;
    known = page;
    return true;
  }

  uintptr_t pages_[kKept] = {};  // direct mapped; page 0 is never readable
};

inline constexpr size_t kNoString = static_cast<size_t>(-1);
// Copies the string and its zero byte. Returns its length; kNoString: it cannot be read up to its end, or it takes more
// than `room` bytes with its zero byte. Then the content of `to` is undefined.
size_t read_own_string(char* to, size_t room, const char* from);
// The same without a copy: the length of a string of at most `most` characters.
size_t measure_own_string(const char* from, size_t most);
// Copies the end of a string of any length up to kMostStringBytes: its last `room` - 1 characters and its zero byte.
// False: it cannot be read up to its end.
bool read_own_string_end(char* to, size_t room, const char* from);

// No program can be given a longer string (the kernel's MAX_ARG_STRLEN).
inline constexpr size_t kMostStringBytes = 128 << 10;

// Reads the beginnings of strings that mostly lie side by side, as those of an environment do: it makes a new system
// call only if the string is not in what the previous call read. Stack: 600 bytes.
class StringBeginnings {
 public:
  // The first kKnownBytes bytes of the string at least, or all up to its zero byte; valid until the next call. nullptr:
  // they cannot be read.
  const char* of(const char* text);
  static constexpr size_t kKnownBytes = 32;

 private:
  uintptr_t start_ = 0;
  size_t bytes_ = 0;
  char window_[256];
};

}  // namespace heapprof::agent
