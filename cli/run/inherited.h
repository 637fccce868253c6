// cli/run/inherited.h: the state that this process was started with, to be passed on to the program.
//
// Guarantees
//  - The program gets the state that an exec keeps and a fork loses: the parent-death signal, being a subreaper, and
//    with SCHED_RESET_ON_FORK the scheduling policy, priority and nice value. It also gets a SCHED_DEADLINE policy
//    back, which we ourselves drop, as such a process cannot fork.
//  - If our children were to begin a PID namespace (unshare --pid), the program stays in ours, and its first child
//    begins one; as far as we may set that (CAP_SYS_ADMIN).
//  - The program has the limits on open files, file size, processor time and stack that we were started with, whatever
//    ours are by then.
//  - Once the program runs, it alone holds the descriptors that we inherited (pipes, sockets, locks of flock(2)), so
//    that their other ends see it close them.
// Not provided: record locks of fcntl(2). Descriptor 2, which the summary needs. Intervals of setitimer(2) and
//           alarm(2), which are ours. Children that we were started with (a shell's `helper & exec heapprof …`): they
//           stay our children.
// Context:  constructed before anything is opened that an exec would keep. Raises soft limits that would end a process
//           that watches many: on file size (the shared memory of the rings is a file), and on the stack.
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
  uint32_t size = 0;  // 0: a fork loses no scheduling state
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

  // The process that the user started: a child of it may do the run (init.h).
  pid_t pid() const { return pid_; }
  // Called by that child of `parent`: makes it end when `parent` does.
  void enter_run(pid_t parent) const;
  // Called by the child of `parent` that becomes the program.
  void enter_program(pid_t parent) const;

  // The parent of the process that the user started has changed since the start.
  bool has_parent_ended() const;
  // The signal that this process gets then, and forwards; 0: none.
  int death_signal() const { return death_signal_; }

  // Closes inherited descriptors, and redirects 0 and 1 to /dev/null. These stay open: descriptor 2; those of files
  // with a record lock of this process (fcntl(2)), which ends when any descriptor of the file is closed; and those of
  // `files`: /dev/stdout is to be written to later. With keeps_terminal, descriptors 0 and 1 stay too.
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
  UniqueFd child_namespace_;       // or the one that its children belong to
};

}  // namespace heapprof::cli
