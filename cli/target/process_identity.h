// cli/target/process_identity.h: whether a process is still the one that connected, and still the same program image.
//
// Guarantees
//  - A reused pid is not taken for the process that had it: by pidfd, or before Linux 5.3 by its start time.
//  - An exec is recognised from /proc: another executable, or the same one with its stack elsewhere. A yes is certain.
//    The answer is no if /proc is hidden, and misses an image that began and ended between two looks.
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
  UniqueFd pidfd;            // may be closed: on an old kernel, or without a free descriptor
  uint64_t start_ticks = 0;  // since boot; 0: unknown
};
bool has_ended(const ProcessHandle& process);
// How a process ended for which has_ended() is true, as far as the kernel says. It says so until the parent has waited
// for the process, and from Linux 6.15 on afterwards, too.
RunEnd end_of(const ProcessHandle& process);

// The process that has this pid now; unknown fields are 0.
struct ProcessLook {
  pid_t parent = 0;
  uint64_t start_ticks = 0;  // since boot
  bool is_forked = false;    // it has not called exec since
  ImageIdentity image;
};
ProcessLook look_at(pid_t pid);

// The variables that the process was started with, a zero byte after each. If it is just replacing its program, waits
// for up to 50 ms: until the new one is in place, the kernel shows no variables. Empty: it has no variables, is gone,
// or is another user's.
std::string read_environment(pid_t pid);

}  // namespace heapprof::cli
