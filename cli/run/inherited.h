// cli/run/inherited.h: what this process was started with, and what the program is to have in its place.
//
// Guarantees
//  - The program gets what an exec would have kept and a fork loses: the signal for its parent's death, that it is a
//    subreaper, and with SCHED_RESET_ON_FORK the scheduling policy, priority and nice value. It gets a policy of
//    SCHED_DEADLINE back, too, which we ourselves drop, as such a process cannot fork.
//  - Where our children were to begin a PID namespace (unshare --pid), the program stays in ours, and its first child
//    begins one; as far as we may set that (CAP_SYS_ADMIN).
//  - The program has the limits of open files, of a file's size, of processor time and of the stack that we were
//    started with, whatever ours are by then.
//  - Once the program runs, it alone holds the descriptors that we inherited, so that their other ends see it close
//    them: pipes, sockets, locks of flock(2).
// Not provided: record locks of fcntl(2). Descriptor 2, which the summary needs. Intervals of setitimer(2) and
//           alarm(2), which are ours. Children that we were started with (a shell's `helper & exec heapprof …`): they
//           stay ours.
// Context:  constructed before anything is opened that an exec would keep; it raises soft limits that would end the
//           process that watches many: of a file's size (the shared memory of the rings is a file), and of the stack.
//           enter_program() makes system calls only.
#pragma once

#include "cli/base/fd.h"

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace heapprof::cli {

// The kernel's sched_attr (sched_setattr(2)), which glibc declares from 2.41 on.
struct SchedulingState {
  uint32_t size = 0;  // 0: a fork loses nothing of it
  uint32_t policy = 0;
  uint64_t flags = 0;
  int32_t nice = 0;
  uint32_t priority = 0;
  uint64_t runtime_ns = 0;
  uint64_t deadline_ns = 0;
  uint64_t period_ns = 0;
};
static_assert(sizeof(SchedulingState) == 48);

class Inherited {
 public:
  Inherited();

  // The process that was asked for: the run may be done by a child of it (init.h).
  pid_t pid() const { return pid_; }
  // Called by that child of `parent`: it ends when `parent` does.
  void enter_run(pid_t parent) const;
  // Called by the child of `parent` that becomes the program.
  void enter_program(pid_t parent) const;

  // The parent of the process that was asked for is no more what it was at the start.
  bool has_parent_ended() const;
  // What this process itself gets then, and forwards; 0: nothing.
  int death_signal() const { return death_signal_; }

  // Closes what was inherited, and leads descriptors 0 and 1 to /dev/null. What stays: descriptor 2, what has a record
  // lock of this process (fcntl(2)), which ends when any descriptor of its file is closed, and what is one of `files`:
  // /dev/stdout is to be written to later. Descriptors 0 and 1 stay with keeps_terminal.
  void drop_descriptors(const std::vector<std::string>& files, bool keeps_terminal) const;

 private:
  void keep_namespace();

  pid_t pid_;
  pid_t parent_;
  int death_signal_ = 0;  // 0: none
  bool is_subreaper_ = false;
  SchedulingState scheduling_;
  int nice_ = 0;
  std::vector<std::pair<int, rlimit>> limits_;
  std::vector<int> descriptors_;   // beyond 2
  bool begins_namespace_ = false;  // the program's first child begins a PID namespace
  UniqueFd child_namespace_;       // or its children belong to this one
};

}  // namespace heapprof::cli
