// cli/attach/thread_choice.h: which thread of a process may be stopped for a moment without an effect on what it does.
//
// A stop ends the system call that a thread is in. The kernel begins the call anew where it had done nothing yet; one
// that had written or read a part returns that part (write, sendmsg, recv with MSG_WAITALL), and connect() that is
// begun anew returns EALREADY. So a thread that sleeps is chosen only in a call of which it is known that it begins
// anew, or that a short result means nothing.
//
// Not provided: a thread that runs may be in any call, or enter one between the look and the stop. One that was seen in
//               a call that is not chosen is left alone for 0.1 s; one that is in the kernel for a fifth of its time
//               for 0.5 s, and for all of the search where it is there nearly always; and one whose call a stop has
//               cut short for 2 s, then 4 s.
// Context:      one thread of heapprof.
// Cost:         three files of /proc for a thread and a look.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace heapprof::cli {

// What a descriptor leads to, as far as it matters to calls that wait.
enum class FileKind {
  kPipe,
  kStream,  // a socket, a terminal, an eventfd …: a read returns what there is
  kOther
};

struct WaitingCall {
  long number = -1;  // -1: none
  std::array<uint64_t, 6> arguments{};
  uint64_t stack_avma = 0;
  uint64_t code_avma = 0;  // of the instruction behind it
};
WaitingCall waiting_call(pid_t pid, pid_t id);

// Whether a stop leaves no trace in this call's effect and result. file: of its first argument.
bool begins_anew(const WaitingCall& call, FileKind file);
// Whether a call of which a stop may leave a part undone has returned less than it was asked for.
bool is_cut_short(const WaitingCall& call, int64_t result);
// Whether it waits for no longer than a time of its own.
bool may_have_timeout(long number);
// Its name, or "system call 317".
std::string call_name(long number);

class ThreadChoice {
 public:
  explicit ThreadChoice(pid_t pid) : pid_(pid) {}

  // Those that may be stopped now: first that sleep without a timeout, then that sleep, then that run.
  std::vector<pid_t> look();
  // What a thread was in when it was stopped, and the result.
  void note_stop(pid_t id, const WaitingCall& call, int64_t result);
  // Why one of the others was not chosen, for a message.
  const std::string& obstacle() const { return obstacle_; }

 private:
  struct Times {
    uint64_t first_ns = 0;                      // when it was seen first; 0: not yet
    uint64_t first_user = 0, first_kernel = 0;  // ticks at that time
    uint64_t user = 0, kernel = 0;              // when the last stretch of 4 ticks ended
    bool is_in_kernel = true;                   // for a fifth of that stretch
    uint64_t avoided_until_ns = 0;
    uint64_t avoid_ns = 1'000'000'000;  // for how long next time
  };
  void note_ticks(Times* times, uint64_t user, uint64_t kernel) const;
  bool may_stop_running(pid_t id, const Times& times, uint64_t user, uint64_t kernel);

  pid_t pid_;
  std::map<pid_t, Times> times_;
  std::string obstacle_ = "it has no thread that can be stopped";
};

}  // namespace heapprof::cli
