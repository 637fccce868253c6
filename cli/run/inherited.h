// cli/run/inherited.h: the process state that heapprof was started with, and that the program gets.
//
// Guarantees
//  - The program gets the state that an exec keeps but a fork loses: the parent-death signal, being a subreaper, and
//    with SCHED_RESET_ON_FORK the scheduling policy, priority and nice value. If heapprof was started with the policy
//    SCHED_DEADLINE, it gives that up for itself, because a process with it cannot fork; the program gets it back.
//  - If heapprof's first child was to begin a PID namespace (unshare --pid), the program's first child begins it
//    instead, and the program stays in our namespace. This needs CAP_SYS_ADMIN.
//  - The program has the limits on open files, file size, processor time and stack that we were started with, even if
//    we have changed ours.
//  - Once the program runs, it alone has the descriptors that we inherited (pipes, sockets, locks of flock(2)). So when
//    it closes them, the other ends notice.
// Not provided: record locks of fcntl(2), and timers of setitimer(2) and alarm(2): they stay ours. Descriptor 2 stays
//           open in heapprof, too, because the summary needs it. Children that existed at the start (a shell's `helper
//           & exec heapprof …`) stay our children.
// Context:  constructed before heapprof opens any descriptor without close-on-exec. The constructor raises two soft
//           limits that are too low for profiling many processes: on file size (the shared memory of the rings is a
//           file), and on the stack. enter_program() makes system calls only.
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

  // The process that the user started. The run may be done by a child of it (init.h).
  pid_t pid() const { return pid_; }
  // Called in that child, whose parent is `parent`: makes the child end when `parent` ends.
  void enter_run(pid_t parent) const;
  // Called in the child of `parent` that becomes the program.
  void enter_program(pid_t parent) const;

  // True if the process that the user started has another parent than at the start.
  bool has_parent_ended() const;
  // The signal that this process gets when its parent ends, and forwards to the program; 0: none.
  int death_signal() const { return death_signal_; }

  // Closes inherited descriptors, and redirects 0 and 1 to /dev/null. These stay open: descriptor 2; descriptors of
  // `files`, which are written later (an output may be /dev/stdout); and descriptors of files on which this process has
  // a record lock (fcntl(2)), because closing any descriptor of such a file would end the lock. With keeps_terminal,
  // descriptors 0 and 1 stay too.
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
  UniqueFd child_namespace_;       // or the existing PID namespace that the program's children belong to
};

}  // namespace heapprof::cli
