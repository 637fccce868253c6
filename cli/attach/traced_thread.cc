// cli/attach/traced_thread.cc: ptrace, and a signal frame written by hand.
//
// The frame is that of Linux on x86-64 (arch/x86/kernel/signal_64.c): the call's return address, a ucontext, a siginfo,
// and above them the state of the vector registers, as XSAVE writes it, with the words that give its length (struct
// _fpx_sw_bytes). ptrace returns these registers in the same form.
//
// Registers are restored while the thread is in the kernel's signal handling (a stop by PTRACE_INTERRUPT), with the
// number and the result of its call unchanged. So the kernel restarts the call by its own rules, with its own record of
// the timeout.
#include "cli/attach/traced_thread.h"

#include "cli/attach/sleep_rest.h"
#include "cli/attach/thread_status.h"
#include "cli/base/clock.h"

#include <cpuid.h>
#include <elf.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace heapprof::cli {

namespace {

constexpr uint64_t kMostStopNs = 1'000'000'000;
constexpr uint64_t kMostCallNs = 10'000'000'000;
constexpr timespec kPause{0, 50'000};
constexpr int kYieldsBeforePauses = 200;
constexpr uint64_t kInstructionBytes = 2;  // of syscall
constexpr uint64_t kInNoCall = UINT64_MAX;
constexpr size_t kMostVectorBytes = 16384;
constexpr uint32_t kMagicBefore = 0x46505853;  // FP_XSTATE_MAGIC1, and …2 after the area
constexpr uint32_t kMagicBehind = 0x46505845;
constexpr size_t kFirstVectorBytes = 576;  // of the legacy part and the header
constexpr size_t kFeaturesAt = 512;        // which components are not in their initial state
constexpr size_t kExtendedAt = 464;        // where the kernel keeps its words in the legacy part of the XSAVE area
constexpr uint64_t kCodeOf64Bits = 0x33;

// Layout of the kernel's frame, and of the ucontext in it, whose signal mask has 8 bytes.
struct SignalFrame {
  uint64_t return_avma;
  uint64_t flags;
  uint64_t link;
  uint64_t stack[3];  // address, flags, bytes
  uint64_t registers[23];
  uint64_t vectors_avma;
  uint64_t reserved[8];
  uint64_t mask;
  unsigned char info[128];
};
static_assert(offsetof(SignalFrame, registers) == 48 && sizeof(uint64_t) * 23 == sizeof(gregset_t));

constexpr uint64_t kFlags = 1 | 2 | 4;          // UC_FP_XSTATE, UC_SIGCONTEXT_SS, UC_STRICT_RESTORE_SS
constexpr uint64_t kNoAlternateStack = 0x7fff;  // no valid flags: the kernel leaves the alternate stack unchanged

// The length of the XSAVE area up to its last component in use. The whole area is not possible: the kernel accepts only
// components that the thread may use, which can be fewer than the processor has (AMX tiles). Removes components that
// end beyond most_bytes from *features.
size_t used_vector_bytes(uint64_t* features, size_t most_bytes) {
  size_t end = kFirstVectorBytes;
  for (unsigned i = 2; i < 63; ++i) {
    const uint64_t component = uint64_t{1} << i;
    if ((*features & component) == 0) continue;
    unsigned bytes = 0, offset = 0, other = 0, more = 0;
    __cpuid_count(0xd, i, bytes, offset, other, more);
    if (size_t{offset} + bytes > most_bytes) {
      *features &= ~component;
    } else {
      end = std::max<size_t>(end, size_t{offset} + bytes);
    }
  }
  return end;
}

// The vector registers in the form of a signal frame, at most most_bytes long; empty: ptrace cannot read them, or there
// is no room. If room is short, upper halves and masks are left out. A function call does not preserve them, but they
// matter if vector code was stopped in the middle.
std::vector<unsigned char> vector_state(pid_t id, size_t most_bytes) {
  std::vector<unsigned char> vectors(kMostVectorBytes);
  iovec part{vectors.data(), vectors.size()};
  if (::ptrace(PTRACE_GETREGSET, id, NT_X86_XSTATE, &part) != 0 || part.iov_len < kFirstVectorBytes ||
      most_bytes < kFirstVectorBytes + sizeof kMagicBehind)
    return {};
  uint64_t features = 0;
  std::memcpy(&features, vectors.data() + kFeaturesAt, sizeof features);
  const size_t bytes = used_vector_bytes(&features, std::min(part.iov_len, most_bytes - sizeof kMagicBehind));
  std::memcpy(vectors.data() + kFeaturesAt, &features, sizeof features);
  _fpx_sw_bytes words{};
  constexpr uint64_t kLegacy = 3;
  words.magic1 = kMagicBefore;
  words.extended_size = static_cast<uint32_t>(bytes + sizeof kMagicBehind);
  words.xstate_bv = features | kLegacy;
  words.xstate_size = static_cast<uint32_t>(bytes);
  std::memcpy(vectors.data() + kExtendedAt, &words, sizeof words);
  vectors.resize(bytes + sizeof kMagicBehind);
  std::memcpy(vectors.data() + bytes, &kMagicBehind, sizeof kMagicBehind);
  return vectors;
}

// True for results with which the kernel restarts a call by itself, if no handler is to run.
bool is_restart(int64_t result) {
  constexpr std::array<int64_t, 4> kResults = {-512, -513, -514,
                                               -516};  // ERESTARTSYS, …NOINTR, …NOHAND, …_RESTARTBLOCK
  return std::count(kResults.begin(), kResults.end(), result) != 0;
}
bool is_restarted_by_kernel(const user_regs_struct& registers) {
  return registers.orig_rax != kInNoCall && is_restart(static_cast<int64_t>(registers.rax));
}

user_regs_struct begun_anew(user_regs_struct registers) {
  registers.rax = registers.orig_rax;
  registers.rip -= kInstructionBytes;
  registers.orig_rax = kInNoCall;
  return registers;
}

// The process that traces the thread, a debugger or another heapprof; 0: none.
uint64_t tracer_of(pid_t pid, pid_t id) { return number_in_status(pid, id, "TracerPid:"); }

// True if a signal is pending whose handler is to run now: then the call would end with EINTR in any case. Only signals
// with a handler count: an ignored signal is pending, too, while heapprof blocks it.
bool has_waiting_signal(pid_t pid, pid_t id, uint64_t mask) {
  const uint64_t waiting = number_in_status(pid, id, "SigPnd:", 16) | number_in_status(pid, id, "ShdPnd:", 16);
  return (waiting & ~mask & number_in_status(pid, id, "SigCgt:", 16)) != 0;
}

// True if the call ended with EINTR only because of heapprof's stop.
bool is_interrupted_by_us(pid_t pid, pid_t id, uint64_t mask, const user_regs_struct& registers) {
  return registers.orig_rax != kInNoCall && static_cast<int64_t>(registers.rax) == -EINTR &&
         !has_waiting_signal(pid, id, mask);
}

// True if the thread's system calls may be sent back to the program (Syscall User Dispatch): then heapprof's call, or
// the return from it, might not reach the kernel. Linux 6.4 and later report this.
bool is_dispatching_calls(pid_t id) {
  constexpr auto kGetConfiguration = static_cast<__ptrace_request>(0x4211);
  struct {
    uint64_t mode, selector_avma, start_avma, bytes;
  } configuration{};
  return ::ptrace(kGetConfiguration, id, sizeof configuration, &configuration) == 0 && configuration.mode != 0;
}

void fill_registers(const user_regs_struct& from, uint64_t* to) {
  to[REG_R8] = from.r8, to[REG_R9] = from.r9, to[REG_R10] = from.r10, to[REG_R11] = from.r11;
  to[REG_R12] = from.r12, to[REG_R13] = from.r13, to[REG_R14] = from.r14, to[REG_R15] = from.r15;
  to[REG_RDI] = from.rdi, to[REG_RSI] = from.rsi, to[REG_RBP] = from.rbp, to[REG_RBX] = from.rbx;
  to[REG_RDX] = from.rdx, to[REG_RAX] = from.rax, to[REG_RCX] = from.rcx, to[REG_RSP] = from.rsp;
  to[REG_RIP] = from.rip, to[REG_EFL] = from.eflags;
  to[REG_CSGSFS] = (from.cs & 0xffff) | (from.ss & 0xffff) << 48;
}

// The signal that a thread is stopped for; 0: it is stopped for something else.
int signal_of_stop(int status) {
  return WIFSTOPPED(status) && status >> 16 == 0 && !is_call_stop(status) ? WSTOPSIG(status) : 0;
}

// Detaches. A thread that did not stop in time may stop later, and must not stay stopped without a tracer. A thread
// that stops for a signal gets the signal.
void detach(pid_t id) {
  const uint64_t start_ns = monotonic_ns();
  int signal = 0;
  while (::ptrace(PTRACE_DETACH, id, nullptr, signal) != 0 && monotonic_ns() - start_ns < kMostStopNs) {
    int status = 0;
    const pid_t news = ::waitpid(id, &status, __WALL | WNOHANG);
    if (news < 0) break;
    if (news == id) signal = signal_of_stop(status);
    ::nanosleep(&kPause, nullptr);
  }
}

}  // namespace

std::string tracer_text(uint64_t tracer) {
  const std::string id = std::to_string(tracer);
  // The tracer is an earlier attempt of heapprof: the thread did not stop, and only a stopped thread can be released.
  if (::access(("/proc/self/task/" + id).c_str(), F_OK) == 0) return "it does not stop";
  return "process " + id + " traces it";
}

std::optional<int> await_stop(pid_t id, uint64_t until_ns) {
  for (int round = 0;; ++round) {
    int status = 0;
    const pid_t news = ::waitpid(id, &status, __WALL | WNOHANG);
    if (news == id) return status;
    if (news < 0) return 0;  // as if it had exited
    if (monotonic_ns() >= until_ns) return std::nullopt;
    if (round < kYieldsBeforePauses) {
      ::sched_yield();
    } else {
      ::nanosleep(&kPause, nullptr);
    }
  }
}

bool is_event_stop(int status) { return WIFSTOPPED(status) && status >> 16 == PTRACE_EVENT_STOP; }
bool is_call_stop(int status) {
  return WIFSTOPPED(status) && status >> 16 == 0 && WSTOPSIG(status) == (SIGTRAP | 0x80);
}

bool get_registers(pid_t id, user_regs_struct* registers) {
  iovec part{registers, sizeof *registers};
  return ::ptrace(PTRACE_GETREGSET, id, NT_PRSTATUS, &part) == 0;
}

bool set_registers(pid_t id, const user_regs_struct& registers) {
  user_regs_struct copy = registers;
  iovec part{&copy, sizeof copy};
  return ::ptrace(PTRACE_SETREGSET, id, NT_PRSTATUS, &part) == 0;
}

uint64_t all_but_faults() {
  uint64_t all = ~uint64_t{0};
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS}) all &= ~(uint64_t{1} << (fault - 1));
  return all;
}

std::optional<siginfo_t> sent_signal(pid_t id, int status) {
  siginfo_t about{};
  if (signal_of_stop(status) == 0 || ::ptrace(PTRACE_GETSIGINFO, id, nullptr, &about) != 0 || about.si_code > 0)
    return std::nullopt;
  return about;
}

bool set_initial_state(pid_t id, user_regs_struct* registers) {
  constexpr uint64_t kInitialFlags = 0x202;    // interrupts, and the bit that is always set
  constexpr uint16_t kInitialControl = 0x37f;  // x87: all exceptions masked, extended precision, round to nearest
  constexpr uint32_t kInitialVectorControl = 0x1f80;  // MXCSR: likewise
  constexpr size_t kVectorControlAt = 24;
  constexpr uint64_t kLegacy = 3;  // the other components have their initial state, including the protection keys
  registers->eflags = kInitialFlags;
  std::vector<unsigned char> vectors(kMostVectorBytes);
  iovec part{vectors.data(), vectors.size()};
  const bool is_extended = ::ptrace(PTRACE_GETREGSET, id, NT_X86_XSTATE, &part) == 0;
  std::fill(vectors.begin(), vectors.end(), 0);
  std::memcpy(vectors.data(), &kInitialControl, sizeof kInitialControl);
  std::memcpy(vectors.data() + kVectorControlAt, &kInitialVectorControl, sizeof kInitialVectorControl);
  if (!is_extended) return ::ptrace(PTRACE_SETFPREGS, id, nullptr, vectors.data()) == 0;
  std::memcpy(vectors.data() + kFeaturesAt, &kLegacy, sizeof kLegacy);
  return ::ptrace(PTRACE_SETREGSET, id, NT_X86_XSTATE, &part) == 0;
}

std::string TracedThread::stop(pid_t pid, pid_t id) {
  if (::ptrace(PTRACE_SEIZE, id, nullptr, PTRACE_O_TRACESYSGOOD) != 0) {
    const int error = errno;
    const uint64_t tracer = tracer_of(pid, id);
    return tracer != 0 ? tracer_text(tracer) : std::strerror(error);
  }
  pid_ = pid;
  id_ = id;
  has_called_ = is_begun_anew_ = false;
  const SleepRest rest(pid, id);
  ::ptrace(PTRACE_INTERRUPT, id, nullptr, nullptr);
  const uint64_t until_ns = monotonic_ns() + kMostStopNs;
  for (;;) {
    const std::optional<int> status = await_stop(id, until_ns);
    if (!status) return "it does not stop";
    if (!WIFSTOPPED(*status)) {
      id_ = 0;
      return "it has ended";
    }
    if (is_event_stop(*status)) {
      if (WSTOPSIG(*status) != SIGTRAP) return "the process is stopped";
      break;
    }
    // A signal was on its way to the thread: deliver it; the thread is stopped right after that.
    ::ptrace(PTRACE_CONT, id, nullptr, is_call_stop(*status) ? 0 : WSTOPSIG(*status));
  }
  if (!get_registers(id, &found_) || ::ptrace(PTRACE_GETSIGMASK, id, sizeof mask_, &mask_) != 0)
    return std::strerror(errno);
  rest.put_back(found_);
  registers_ = found_;
  if (is_interrupted_by_us(pid, id, mask_, found_)) {  // at once: heapprof may be killed
    registers_ = begun_anew(found_);
    set_registers(id, registers_);
    is_begun_anew_ = true;
  }
  if (found_.cs != kCodeOf64Bits) return "it runs 32-bit code";
  if (is_dispatching_calls(id)) return "its system calls are sent back to it (PR_SET_SYSCALL_USER_DISPATCH)";
  return is_in_restartable_sequence() ? "it is in a restartable sequence" : "";
}

// If a thread is stopped in a restartable sequence, the kernel continues it at the sequence's abort address (rseq(2)).
bool TracedThread::is_in_restartable_sequence() const {
  // PTRACE_GET_RSEQ_CONFIGURATION, Linux 5.13
  constexpr auto kGetConfiguration = static_cast<__ptrace_request>(0x420f);
  struct {
    uint64_t area_avma;
    uint32_t area_bytes, signature, flags, pad;
  } configuration{};
  struct {
    uint32_t version, flags;
    uint64_t start_avma, bytes, abort_avma;
  } sequence{};
  uint64_t sequence_avma = 0;
  if (::ptrace(kGetConfiguration, id_, sizeof configuration, &configuration) <= 0 || configuration.area_avma == 0)
    return false;
  constexpr uint64_t kSequenceAt = 8;
  if (!read_memory(pid_, configuration.area_avma + kSequenceAt, &sequence_avma, sizeof sequence_avma) ||
      sequence_avma == 0 || !read_memory(pid_, sequence_avma, &sequence, sizeof sequence))
    return false;
  return found_.rip - sequence.start_avma < sequence.bytes;
}

void TracedThread::keep_registers(const LibcCode& code, RemoteSymbol frame, bool is_borrowed) {
  code_ = code;
  frame_ = frame;
  is_borrowed_ = is_borrowed;
}

// If there is no room for the frame, none is written, and the call is made all the same. If there is little room, the
// frame has no vector registers: rt_sigreturn would set them to their initial state.
void TracedThread::write_frame() {
  constexpr size_t kAround = 128;  // for alignment
  return_avma_ = 0;
  if (frame_.size_bytes < sizeof(SignalFrame) + kAround) return;
  const std::vector<unsigned char> vectors = vector_state(id_, frame_.size_bytes - sizeof(SignalFrame) - kAround);
  const uint64_t end_avma = frame_.start_avma + frame_.size_bytes;
  const uint64_t vectors_avma = (end_avma - vectors.size()) & ~uint64_t{63};
  const uint64_t start_avma = ((vectors_avma - sizeof(SignalFrame)) & ~uint64_t{15}) - 8;
  SignalFrame frame{};
  frame.return_avma = code_.restorer_avma;
  frame.flags = kFlags;
  frame.stack[1] = kNoAlternateStack;
  fill_registers(is_restarted_by_kernel(registers_) ? begun_anew(registers_) : registers_, frame.registers);
  frame.vectors_avma = vectors.empty() ? 0 : vectors_avma;
  frame.mask = mask_;
  if (is_borrowed_ && covered_.empty()) {
    covered_.resize(end_avma - start_avma);
    covered_avma_ = start_avma;
    if (!read_memory(pid_, covered_avma_, covered_.data(), covered_.size())) {
      covered_.clear();
      return;
    }
  }
  const bool is_written = (vectors.empty() || write_memory(pid_, vectors_avma, vectors.data(), vectors.size())) &&
                          write_memory(pid_, start_avma, &frame, sizeof frame);
  if (is_written) return_avma_ = start_avma;
}

void TracedThread::clear_frame() {
  if (!covered_.empty()) write_memory(pid_, covered_avma_, covered_.data(), covered_.size());
  covered_.clear();
  return_avma_ = 0;
}

user_regs_struct TracedThread::registers_of(uint64_t number, const std::array<uint64_t, 6>& arguments) const {
  user_regs_struct registers = registers_;
  registers.rip = code_.system_call_avma;
  registers.rax = number;
  registers.orig_rax = kInNoCall;
  registers.rdi = arguments[0], registers.rsi = arguments[1], registers.rdx = arguments[2];
  registers.r10 = arguments[3], registers.r8 = arguments[4], registers.r9 = arguments[5];
  if (return_avma_ != 0) registers.rsp = return_avma_;
  return registers;
}

int64_t TracedThread::system_call(uint64_t number, const std::array<uint64_t, 6>& arguments) {
  if (id_ == 0) return -ESRCH;
  write_frame();  // the frame stays: until the thread is released, a call returns through it
  has_called_ = true;
  // The registers are set before the mask: from then on, if heapprof is killed, the frame restores the mask, too.
  const uint64_t all = all_but_faults() | mask_;
  if (!set_registers(id_, registers_of(number, arguments)) || ::ptrace(PTRACE_SETSIGMASK, id_, sizeof all, &all) != 0)
    return -ESRCH;
  const uint64_t until_ns = monotonic_ns() + kMostCallNs;
  // If a signal came before all were blocked, clone() returns ERESTARTNOINTR: the call has to be repeated.
  constexpr int kMostTries = 100;
  int64_t result = -EIO;
  for (int tries = 0; tries < kMostTries; ++tries) {
    result = system_call_once(number, arguments, until_ns);
    if (!is_restart(result)) break;
  }
  return result;
}

// Returns the signal with which the thread is to continue from a stop in a call of heapprof. A signal that was sent to
// the thread is blocked from now on, and then delivered: the kernel puts a blocked signal back among the pending ones,
// unchanged (ptrace_signal() in kernel/signal.c). The two instructions that the thread runs are not expected to fault.
int TracedThread::put_back_sent(int status) {
  const std::optional<siginfo_t> sent = sent_signal(id_, status);
  constexpr uint64_t kAll = ~uint64_t{0};
  return sent && ::ptrace(PTRACE_SETSIGMASK, id_, sizeof kAll, &kAll) == 0 ? sent->si_signo : 0;
}

int64_t TracedThread::system_call_once(uint64_t number, const std::array<uint64_t, 6>& arguments, uint64_t until_ns) {
  user_regs_struct registers = registers_of(number, arguments);
  if (!set_registers(id_, registers)) return -ESRCH;
  int64_t result = -EIO;
  made_thread_ = 0;
  for (int stops = 0, signal = 0; stops < 2;) {
    if (::ptrace(PTRACE_SYSCALL, id_, nullptr, signal) != 0) break;
    const std::optional<int> status = await_stop(id_, until_ns);
    if (!status) break;
    if (!WIFSTOPPED(*status)) {
      id_ = 0;
      return -ESRCH;
    }
    signal = put_back_sent(*status);
    if (*status >> 16 == PTRACE_EVENT_CLONE) ::ptrace(PTRACE_GETEVENTMSG, id_, nullptr, &made_thread_);
    if (is_call_stop(*status)) ++stops;
    if (stops == 2 && get_registers(id_, &registers)) result = static_cast<int64_t>(registers.rax);
  }
  return result;
}

int64_t TracedThread::clone(const std::array<uint64_t, 6>& arguments, pid_t* id) {
  ::ptrace(PTRACE_SETOPTIONS, id_, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE);
  const int64_t made = system_call(SYS_clone, arguments);
  if (id_ != 0) ::ptrace(PTRACE_SETOPTIONS, id_, nullptr, PTRACE_O_TRACESYSGOOD);
  if (made <= 0) return made;
  *id = static_cast<pid_t>(made_thread_);
  const std::optional<int> status = await_stop(*id, monotonic_ns() + kMostStopNs);
  return status && WIFSTOPPED(*status) ? made : -EIO;
}

void TracedThread::let_go() {
  if (id_ == 0) return;
  if (has_called_) {  // back into the kernel's signal handling, without an instruction of the program in between
    const uint64_t until_ns = monotonic_ns() + kMostStopNs;
    ::ptrace(PTRACE_INTERRUPT, id_, nullptr, nullptr);
    int signal = 0;
    for (bool is_there = false; !is_there && ::ptrace(PTRACE_CONT, id_, nullptr, signal) == 0;) {
      const std::optional<int> status = await_stop(id_, until_ns);
      if (!status || !WIFSTOPPED(*status)) break;
      is_there = is_event_stop(*status);
      signal = put_back_sent(*status);
    }
  }
  // If a handler is to run now, the call would have ended with EINTR even without the stop.
  const bool is_ended = is_begun_anew_ && has_waiting_signal(pid_, id_, mask_);
  if (has_called_) ::ptrace(PTRACE_SETSIGMASK, id_, sizeof mask_, &mask_);
  if (has_called_ || is_ended) set_registers(id_, is_ended ? found_ : registers_);
  clear_frame();
  detach(id_);
  id_ = 0;
}

}  // namespace heapprof::cli
