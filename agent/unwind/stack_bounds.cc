// agent/unwind/stack_bounds.cc: looks for the mapping of a stack pointer in /proc/self/maps.
//
// pthread_getattr_np would tell the bounds of a thread's own stack, but it allocates and reads the same file, and knows
// neither coroutines' stacks nor a signal handler's. The file is read in pieces of 512 bytes: the caller may have
// little stack left.
#include "agent/unwind/stack_bounds.h"

#include "agent/libc/raw.h"
#include "agent/process/state.h"

#include <fcntl.h>

namespace heapprof::agent {

namespace {

// Takes the characters of /proc/self/maps one by one: "START-END rwxp …\n", in hexadecimal.
class MapsReader {
 public:
  explicit MapsReader(uint64_t wanted) : wanted_(wanted) {}

  // True once the mapping is found.
  bool take(char c) {
    if (c == '\n') {
      field_ = 0;
      range_ = {};
      return false;
    }
    if (field_ > 2) return false;
    if (c == '-' && field_ == 0) {
      field_ = 1;
    } else if (c == ' ') {
      ++field_;
    } else if (field_ == 2) {
      field_ = 3;  // the first of the permissions
      return c == 'r' && range_.holds(wanted_);
    } else {
      uint64_t& number = field_ == 0 ? range_.start : range_.end;
      number = number << 4 | static_cast<uint64_t>(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return false;
  }
  AddressRange range() const { return range_; }

 private:
  uint64_t wanted_;
  AddressRange range_;
  int field_ = 0;  // start, end, permissions, the rest
};

}  // namespace

AddressRange find_stack(uint64_t sp) {
  if (is_filtered()) return {};
  const long fd = raw_syscall(SYS_openat, AT_FDCWD, reinterpret_cast<long>("/proc/self/maps"), O_RDONLY | O_CLOEXEC);
  if (is_error(fd)) return {};
  MapsReader reader(sp);
  char text[512];
  AddressRange found;
  for (long got; found.end == 0;) {
    got = raw_syscall(SYS_read, fd, reinterpret_cast<long>(text), sizeof text);
    if (is_error(got) || got == 0) break;
    for (long i = 0; i < got; ++i) {
      if (!reader.take(text[i])) continue;
      found = reader.range();
      break;
    }
  }
  sys_close(static_cast<int>(fd));
  return found;
}

}  // namespace heapprof::agent
