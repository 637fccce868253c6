// cli/attach/thread_choice.h: which thread of a process may be stopped for a moment without affecting what it does.
//
// A stop ends the system call that a thread is in. The kernel restarts the call if it had done nothing yet. A call that
// had written or read a part returns the size of that part (write, sendmsg, recv with MSG_WAITALL), and a restarted
// connect() returns EALREADY. So a sleeping thread is chosen only in a call that is known to restart, or whose short
// result does not matter.
//
// Not provided: certainty for a running thread: it may be in any call, or enter one between the check and the stop. So
//               some threads are avoided for a time. A thread that was seen in a call that a stop would affect: 0.1 s.
//               A thread that spends a fifth of its time in the kernel: 0.5 s, or the whole search if it is nearly all
//               of its time. A thread whose call a stop has cut short: 2 s, then 4 s.
// Context:      one thread of heapprof.
// Cost:         three files of /proc per thread and check.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace heapprof::cli {

// What a descriptor refers to, as far as it matters to waiting calls.
enum class FileKind {
  kPipe,
  kStream,  // a socket, a terminal, an eventfd …: a read returns what is available
  kOther
};

struct WaitingCall {
  long number = -1;  // -1: none
  std::array<uint64_t, 6> arguments{};
  uint64_t stack_avma = 0;
  uint64_t code_avma = 0;  // of the instruction after it
};
WaitingCall waiting_call(pid_t pid, pid_t id);

// True if a stop does not change this call's effect and result. file: what the call's first argument refers to.
bool begins_anew(const WaitingCall& call, FileKind file);
// True if a call that a stop may cut short has returned less than requested.
bool is_cut_short(const WaitingCall& call, int64_t result);
// True if the call may have a timeout.
bool may_have_timeout(long number);
// Its name, or "system call 317".
std::string call_name(long number);

class ThreadChoice {
 public:
  explicit ThreadChoice(pid_t pid) : pid_(pid) {}

  // The threads that may be stopped now: first those that sleep without a timeout, then others that sleep, then running
  // ones.
  std::vector<pid_t> look();
  // Notes the call that a thread was in when it was stopped, and the result.
  void note_stop(pid_t id, const WaitingCall& call, int64_t result);
  // Why one of the other threads was not chosen, for a message.
  const std::string& obstacle() const { return obstacle_; }

 private:
  struct Times {
    uint64_t first_ns = 0;                      // when the thread was first seen; 0: not yet
    uint64_t first_user = 0, first_kernel = 0;  // ticks at that time
    uint64_t user = 0, kernel = 0;              // when the last period of 4 ticks ended
    bool is_in_kernel = true;                   // for more than a fifth of that period
    uint64_t avoided_until_ns = 0;
    uint64_t avoid_ns = 1'000'000'000;  // half of the time for which it is avoided next
  };
  void note_ticks(Times* times, uint64_t user, uint64_t kernel) const;
  bool may_stop_running(pid_t id, const Times& times, uint64_t user, uint64_t kernel);

  pid_t pid_;
  std::map<pid_t, Times> times_;
  std::string obstacle_ = "it has no thread that can be stopped";
};

}  // namespace heapprof::cli
