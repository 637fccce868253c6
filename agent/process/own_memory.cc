// agent/process/own_memory.cc: lets the kernel read this process's own memory, by process_vm_readv.
//
// Other ways were considered. A pipe or a socket reports EFAULT as well, but needs a descriptor. The handler of SIGSEGV
// is the program's. rt_sigprocmask with a wrong first argument tells whether eight bytes can be read, but another
// thread may unmap them before they are read. If no thread can do that (ReadablePages), rt_sigprocmask is the better
// way. It costs a fifth, and even a seccomp filter that kills for an unexpected process_vm_readv allows it, because
// libc also blocks signals with it. It is also the better way to read what a program passes, if process_vm_readv is
// refused (older container runtimes). A program that unmaps such memory during its call makes its own call fail. In
// contrast, a program that cannot run with the agent's variables would fail each time that it is started with them.
//
// The manual of process_vm_readv says that a partial transfer ends between two pieces of the list that it was given. So
// no piece crosses the end of a page.
#include "agent/process/own_memory.h"

#include "agent/libc/raw.h"
#include "agent/libc/valgrind.h"
#include "agent/process/state.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

#include <atomic>

namespace heapprof::agent {

namespace {

constexpr size_t kMostPieces = 16;  // pieces in one call
constexpr size_t kLookBytes = 256;  // bytes of a string that are read at once

size_t bytes_to_page_end(uintptr_t address) { return wire::kPageBytes - address % wire::kPageBytes; }

// Makes one call, for at most kMostPieces pages. Returns how many bytes were read, or an error.
long read_some(char* to, uintptr_t from, size_t bytes) {
  iovec pieces[kMostPieces];
  size_t count = 0;
  size_t asked = 0;
  while (count < kMostPieces && asked < bytes) {
    const size_t to_page_end = bytes_to_page_end(from + asked);
    const size_t piece_bytes = to_page_end < bytes - asked ? to_page_end : bytes - asked;
    pieces[count++] = {reinterpret_cast<void*>(from + asked), piece_bytes};
    asked += piece_bytes;
  }
  const iovec target{to, asked};
  return raw_syscall(SYS_process_vm_readv, sys_gettid(), reinterpret_cast<long>(&target), 1,
                     reinterpret_cast<long>(pieces), static_cast<long>(count), 0);
}

bool is_mask_readable(uintptr_t address) {
  constexpr long kNoSuchChange = -1;
  return raw_syscall(SYS_rt_sigprocmask, kNoSuchChange, static_cast<long>(address), 0, sizeof(SignalMask)) != -EFAULT;
}

bool is_page_readable(uintptr_t address) {
  constexpr uintptr_t kIntoPage = 8;  // because at address 0 the kernel would read no mask
  return is_mask_readable(address - address % wire::kPageBytes + kIntoPage);
}

// True if rt_sigprocmask reads the mask before it checks its first argument. Linux does so. qemu-user refuses the call
// before that, so every page would seem to be readable. Valgrind would warn the user of both.
bool is_mask_read_first() {
  enum Answer : uint8_t { kUnknown, kYes, kNo };
  static std::atomic<Answer> answer{kUnknown};
  if (answer.load(std::memory_order_relaxed) == kUnknown) {
    constexpr uintptr_t kNowhere = uintptr_t{1} << 62;  // no address of this processor
    const bool is_read_first = !is_in_valgrind() && !is_mask_readable(kNowhere);
    answer.store(is_read_first ? kYes : kNo, std::memory_order_relaxed);
  }
  return answer.load(std::memory_order_relaxed) == kYes;
}

// Reads directly, up to the end of the page. 0: the page cannot be read.
size_t read_as_it_is(char* to, uintptr_t from, size_t bytes) {
  const size_t to_page_end = bytes_to_page_end(from);
  if (!is_mask_read_first() || !is_page_readable(from)) return 0;
  const size_t got = to_page_end < bytes ? to_page_end : bytes;
  memcpy(to, reinterpret_cast<const void*>(from), got);
  return got;
}

size_t read_part(void* to, const void* from, size_t bytes, bool is_given) {
  if (is_filtered()) return 0;
  const auto start = reinterpret_cast<uintptr_t>(from);
  if (start + bytes < start) bytes = 0 - start;  // up to the end of all addresses
  size_t done = 0;
  while (done < bytes) {
    char* const rest = static_cast<char*>(to) + done;
    long got = read_some(rest, start + done, bytes - done);
    if (is_given && is_error(got) && got != -EFAULT)
      got = static_cast<long>(read_as_it_is(rest, start + done, bytes - done));
    if (is_error(got) || got == 0) break;
    done += static_cast<size_t>(got);
  }
  return done;
}

// Goes through a string piece by piece. Calls take(piece, bytes), the zero byte included; if take returns false, stops.
template <typename Take>
size_t walk_string(const char* from, size_t most, Take take) {
  char piece[kLookBytes];
  for (size_t length = 0; length <= most;) {
    const auto at = reinterpret_cast<uintptr_t>(from) + length;
    const size_t got = read_given_part(piece, reinterpret_cast<const void*>(at), sizeof piece);
    if (got == 0) return kNoString;
    const size_t here = strnlen(piece, got);
    const bool is_end = here < got;
    if (length + here > most || !take(piece, here + (is_end ? 1 : 0))) return kNoString;
    length += here;
    if (is_end) return length;
  }
  return kNoString;
}

}  // namespace

size_t read_own_part(void* to, const void* from, size_t bytes) { return read_part(to, from, bytes, false); }
size_t read_given_part(void* to, const void* from, size_t bytes) { return read_part(to, from, bytes, true); }

uintptr_t find_readable_end(uintptr_t start, uintptr_t wanted, uintptr_t most) {
  while (start < wanted && !is_filtered()) {
    char bytes[kMostPieces];
    iovec pieces[kMostPieces];
    size_t count = 0;
    for (uintptr_t page = start; count < kMostPieces && (page < wanted || page < most); page += wire::kPageBytes)
      pieces[count++] = {reinterpret_cast<void*>(page), 1};
    const iovec target{bytes, sizeof bytes};
    const long got = raw_syscall(SYS_process_vm_readv, sys_gettid(), reinterpret_cast<long>(&target), 1,
                                 reinterpret_cast<long>(pieces), static_cast<long>(count), 0);
    if (is_error(got)) break;
    start += static_cast<size_t>(got) * wire::kPageBytes;
    if (static_cast<size_t>(got) < count) break;
  }
  return start;
}

bool can_read_page(uintptr_t address) {
  const uintptr_t start = address & ~(wire::kPageBytes - 1);
  if (is_filtered()) return true;
  if (is_mask_read_first()) return is_page_readable(start);
  return find_readable_end(start, start + wire::kPageBytes) != start || !can_read_own_memory();
}

bool can_read_own_memory() {
  char byte = 0;
  return read_own_memory(&byte, &kLookBytes, sizeof byte);
}

bool read_own_memory(void* to, const void* from, size_t bytes) { return read_own_part(to, from, bytes) == bytes; }
bool read_given_memory(void* to, const void* from, size_t bytes) { return read_given_part(to, from, bytes) == bytes; }

size_t read_own_string(char* to, size_t room, const char* from) {
  if (room == 0) return kNoString;
  return walk_string(from, room - 1, [&to](const char* piece, size_t bytes) {
    memcpy(to, piece, bytes);
    to += bytes;
    return true;
  });
}

size_t measure_own_string(const char* from, size_t most) {
  return walk_string(from, most, [](const char*, size_t) { return true; });
}

bool read_own_string_end(char* to, size_t room, const char* from) {
  const size_t length = measure_own_string(from, kMostStringBytes);
  if (length == kNoString) return false;
  const size_t left_out = length < room ? 0 : length - (room - 1);
  return read_own_string(to, room, from + left_out) != kNoString;
}

const char* StringBeginnings::of(const char* text) {
  const auto address = reinterpret_cast<uintptr_t>(text);
  const auto is_enough = [](const char* at, size_t bytes) {
    return bytes >= kKnownBytes || strnlen(at, bytes) < bytes;
  };
  if (address >= start_ && address - start_ < bytes_) {
    const size_t offset = address - start_;
    if (is_enough(window_ + offset, bytes_ - offset)) return window_ + offset;
  }
  start_ = address;
  bytes_ = read_given_part(window_, text, sizeof window_);
  return is_enough(window_, bytes_) ? window_ : nullptr;
}

}  // namespace heapprof::agent
