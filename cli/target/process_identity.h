// cli/target/process_identity.h: whether a process is still the one that spoke to us, and still the same program image.
//
// Guarantees
//  - A number that is used again is not taken for the process that had it: by pidfd, or before Linux 5.3 by its start
//    time.
//  - An exec is told from /proc: another executable, or the same one with its stack elsewhere. That is certain if it
//    says yes; it says no where /proc is hidden, and misses what began and ended between two looks.
// Context:  any thread. The process may be gone at any moment.
// Cost:     has_ended 0.5 µs with a pidfd; look_at 20 µs.
#pragma once

#include "cli/base/fd.h"
#include "cli/model/profile/run.h"

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// A program image. All 0: unknown.
struct ImageIdentity {
  uint64_t device = 0;  // of the executable
  uint64_t inode = 0;
  uint64_t stack_start_avma = 0;
};
bool is_other_image(const ImageIdentity& before, const ImageIdentity& now);

struct ProcessHandle {
  pid_t pid = 0;
  UniqueFd pidfd;            // may be closed: an old kernel, no descriptor left
  uint64_t start_ticks = 0;  // since boot; 0: unknown
};
bool has_ended(const ProcessHandle& process);
// How a process ended that has_ended(): as far as the kernel tells. It does until its parent has asked, and from Linux
// 6.15 on after.
RunEnd end_of(const ProcessHandle& process);

// The process that has this number now; what is unknown is 0.
struct ProcessLook {
  pid_t parent = 0;
  uint64_t start_ticks = 0;  // since boot
  bool is_forked = false;    // it has not called exec since
  ImageIdentity image;
};
ProcessLook look_at(pid_t pid);

// The variables that the process was started with, a zero byte behind each. Waits for as much as 50 ms where it is just
// replacing its program: until the new one is in place, the kernel shows no variables. Empty: it has none, it is gone,
// or it is another user's.
std::string read_environment(pid_t pid);

}  // namespace heapprof::cli
