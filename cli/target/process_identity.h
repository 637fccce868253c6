// cli/target/process_identity.h: tells whether a process is still the one that connected, and whether it still runs the
// same program image.
//
// Guarantees
//  - A reused pid is not taken for the process that had it before: processes are identified by pidfd, or before Linux
//    5.3 by start time.
//  - An exec is recognised from /proc: the executable is another one, or it is the same but the stack is at another
//    address. "Another image" is certain. "The same image" is not: /proc may be hidden, or an image may have begun and
//    ended between two looks.
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
  UniqueFd pidfd;            // closed on an old kernel, or if no descriptor was free
  uint64_t start_ticks = 0;  // since boot; 0: unknown
};
bool has_ended(const ProcessHandle& process);
// How a process ended, if the kernel shows it; pre: has_ended(). The kernel shows it until the parent has waited for
// the process, and from Linux 6.15 on afterwards, too.
RunEnd end_of(const ProcessHandle& process);

// The process that has this pid now; unknown fields are 0.
struct ProcessLook {
  pid_t parent = 0;
  uint64_t start_ticks = 0;  // since boot
  bool is_forked = false;    // it was forked and has not called exec since
  ImageIdentity image;
};
ProcessLook look_at(pid_t pid);

// The environment variables that the process was started with, each followed by a zero byte. If the process is just in
// an exec, waits for up to 50 ms, because the kernel shows no variables during it. Empty: the process has no variables,
// is gone, or is another user's.
std::string read_environment(pid_t pid);

}  // namespace heapprof::cli
