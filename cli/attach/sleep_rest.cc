// cli/attach/sleep_rest.cc: see sleep_rest.h.
#include "cli/attach/sleep_rest.h"

#include "cli/attach/process_maps.h"
#include "cli/attach/thread_status.h"

#include <sys/syscall.h>

#include <array>
#include <cstring>

namespace heapprof::cli {

namespace {

constexpr int64_t kGoesOn = -516;  // ERESTART_RESTARTBLOCK: the kernel resumes it from its own record

// Reads the number of a call that was stopped before from the instruction in front of the call, mov $NUMBER,%eax.
long number_in_code(pid_t pid, uint64_t code_avma) {
  constexpr unsigned char kMove = 0xb8;
  constexpr std::array<unsigned char, 2> kSystemCall = {0x0f, 0x05};
  std::array<unsigned char, 7> code{};
  uint32_t number = 0;
  if (!read_memory(pid, code_avma - code.size(), code.data(), code.size()) || code[0] != kMove ||
      code[5] != kSystemCall[0] || code[6] != kSystemCall[1])
    return -1;
  std::memcpy(&number, &code[1], sizeof number);
  return number;
}

uint64_t count_waits(pid_t pid, pid_t id) { return number_in_status(pid, id, "voluntary_ctxt_switches:"); }

}  // namespace

SleepRest::SleepRest(pid_t pid, pid_t id) : pid_(pid), id_(id), switches_(count_waits(pid, id)) {
  call_ = waiting_call(pid, id);
  const long number = call_.number == SYS_restart_syscall ? number_in_code(pid, call_.code_avma) : call_.number;
  if (number == SYS_nanosleep) rest_avma_ = call_.arguments[1];
  if (number == SYS_clock_nanosleep && (call_.arguments[1] & TIMER_ABSTIME) == 0) rest_avma_ = call_.arguments[3];
  if (rest_avma_ != 0 && !read_memory(pid, rest_avma_, &before_, sizeof before_)) rest_avma_ = 0;
}

// If the thread has begun to wait once more since the constructor, that was heapprof's stop. If it has begun to wait
// twice, it is in another sleep.
void SleepRest::put_back(const user_regs_struct& registers) const {
  if (rest_avma_ == 0 || static_cast<int64_t>(registers.rax) != kGoesOn || registers.rsp != call_.stack_avma ||
      registers.rip != call_.code_avma || registers.orig_rax != static_cast<uint64_t>(call_.number) ||
      count_waits(pid_, id_) != switches_ + 1)
    return;
  write_memory(pid_, rest_avma_, &before_, sizeof before_);
}

}  // namespace heapprof::cli
