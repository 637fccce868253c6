// cli/attach/stopped_thread.cc: ptrace, and a signal frame written by hand.
//
// The frame is that of Linux on x86-64 (arch/x86/kernel/signal_64.c): the address that the function returns to, a
// ucontext, a siginfo, and above them the state of the vector registers, as XSAVE writes it, with the words that say
// how long it is (struct _fpx_sw_bytes). What ptrace gives of these registers has the same form.
#include "cli/attach/stopped_thread.h"

#include "cli/base/clock.h"

#include <cpuid.h>
#include <elf.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/ucontext.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fstream>

namespace heapprof::cli {

namespace {

constexpr uint64_t kMostStopNs = 1'000'000'000;
constexpr timespec kPause{0, 100'000};
constexpr uint64_t kRedZoneBytes = 128;
constexpr uint64_t kInstructionBytes = 2;  // of syscall
constexpr uint64_t kNoCall = UINT64_MAX;
constexpr size_t kMostVectorBytes = 16384;
constexpr uint32_t kMagicBefore = 0x46505853;  // FP_XSTATE_MAGIC1, and …2 behind the area
constexpr uint32_t kMagicBehind = 0x46505845;
constexpr size_t kFeaturesAt = 512;  // which components are not in their first state
constexpr size_t kExtendedAt = 464;  // where the kernel keeps its words in the legacy part of the XSAVE area
constexpr uint64_t kDirectionFlag = 0x400;

// Of the kernel's frame, and of the ucontext in it, whose signal mask has 8 bytes.
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
constexpr uint64_t kNoAlternateStack = 0x7fff;  // flags that no alternate stack has: the kernel leaves it as it is

bool write_memory(pid_t pid, uint64_t to_avma, const void* from, size_t bytes) {
  iovec local{const_cast<void*>(from), bytes};
  iovec remote{reinterpret_cast<void*>(to_avma), bytes};
  return process_vm_writev(pid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

bool read_memory(pid_t pid, uint64_t from_avma, void* to, size_t bytes) {
  iovec local{to, bytes};
  iovec remote{reinterpret_cast<void*>(from_avma), bytes};
  return process_vm_readv(pid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

// How long the XSAVE area is as far as its components are in use: the kernel takes no more than the thread may have,
// which is less than all that the processor has (tiles).
size_t used_vector_bytes(const std::vector<unsigned char>& vectors, size_t all_bytes) {
  constexpr size_t kFirstBytes = 576;  // of the legacy part and the header
  uint64_t features = 0;
  std::memcpy(&features, vectors.data() + kFeaturesAt, sizeof features);
  size_t end = kFirstBytes;
  for (unsigned i = 2; i < 63; ++i) {
    if ((features >> i & 1) == 0) continue;
    unsigned bytes = 0, offset = 0, other = 0, more = 0;
    __cpuid_count(0xd, i, bytes, offset, other, more);
    end = std::max<size_t>(end, size_t{offset} + bytes);
  }
  return std::min(end, all_bytes);
}

// How a call ended that was stopped: a signal was to be handled before it goes on.
bool is_to_begin_anew(const user_regs_struct& registers) {
  constexpr int64_t kRestartAlways = -513;  // ERESTARTNOINTR
  constexpr int64_t kRestart = -512;        // ERESTARTSYS
  constexpr int64_t kRestartIfNoHandler = -514;
  constexpr int64_t kRestartBlock = -516;
  if (registers.orig_rax == kNoCall) return false;
  const auto result = static_cast<int64_t>(registers.rax);
  if (result == kRestart || result == kRestartAlways || result == kRestartIfNoHandler || result == kRestartBlock)
    return true;
  if (result != -EINTR) return false;
  switch (registers.orig_rax) {  // no handler has run: these end so when the thread is stopped (signal(7))
    case SYS_read:
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
    case SYS_epoll_pwait2:
    case SYS_rt_sigtimedwait:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_io_getevents:
    case SYS_accept:
    case SYS_accept4:
    case SYS_connect:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_io_uring_enter:
    case SYS_recvfrom:
    case SYS_recvmsg: return true;
    default: return false;
  }
}

user_regs_struct begun_anew(user_regs_struct registers) {
  if (is_to_begin_anew(registers)) {
    registers.rax = registers.orig_rax;
    registers.rip -= kInstructionBytes;
  }
  registers.orig_rax = kNoCall;
  return registers;
}

// Who traces it, a debugger or another heapprof; 0: nobody does.
long tracer_of(pid_t pid, pid_t id) {
  constexpr char kName[] = "TracerPid:";
  std::ifstream status("/proc/" + std::to_string(pid) + "/task/" + std::to_string(id) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(kName)) return std::strtol(line.c_str() + sizeof kName - 1, nullptr, 10);
  }
  return 0;
}

void fill_registers(const user_regs_struct& from, uint64_t* to) {
  to[REG_R8] = from.r8, to[REG_R9] = from.r9, to[REG_R10] = from.r10, to[REG_R11] = from.r11;
  to[REG_R12] = from.r12, to[REG_R13] = from.r13, to[REG_R14] = from.r14, to[REG_R15] = from.r15;
  to[REG_RDI] = from.rdi, to[REG_RSI] = from.rsi, to[REG_RBP] = from.rbp, to[REG_RBX] = from.rbx;
  to[REG_RDX] = from.rdx, to[REG_RAX] = from.rax, to[REG_RCX] = from.rcx, to[REG_RSP] = from.rsp;
  to[REG_RIP] = from.rip, to[REG_EFL] = from.eflags;
  to[REG_CSGSFS] = (from.cs & 0xffff) | (from.ss & 0xffff) << 48;
}

}  // namespace

std::string StoppedThread::stop(pid_t pid, pid_t id) {
  registers_ = {};
  registers_.orig_rax = kNoCall;
  if (::ptrace(PTRACE_SEIZE, id, nullptr, PTRACE_O_TRACESYSGOOD) != 0) {
    const int error = errno;
    const long tracer = tracer_of(pid, id);
    return tracer != 0 ? "process " + std::to_string(tracer) + " traces it" : std::strerror(error);
  }
  pid_ = pid;
  id_ = id;
  is_prepared_ = has_called_ = false;
  ::ptrace(PTRACE_INTERRUPT, id, nullptr, nullptr);
  const uint64_t start_ns = monotonic_ns();
  int status = 0;
  for (;;) {
    const pid_t news = ::waitpid(id, &status, __WALL | WNOHANG);
    if (news < 0 || (news == id && !WIFSTOPPED(status))) {
      id_ = 0;
      return "it has ended";
    }
    if (news == id && status >> 16 == PTRACE_EVENT_STOP) break;
    // A signal on its way to the thread: it has it, and is stopped right after that.
    if (news == id) ::ptrace(PTRACE_CONT, id, nullptr, WSTOPSIG(status));
    if (monotonic_ns() - start_ns > kMostStopNs) {
      // A tracer that leaves lets it go; one that stays must not leave it half traced.
      return "it does not stop";
    }
    if (news == 0) ::nanosleep(&kPause, nullptr);
  }
  if (WSTOPSIG(status) != SIGTRAP) return "the process is stopped";
  iovec part{&registers_, sizeof registers_};
  if (::ptrace(PTRACE_GETREGSET, id, NT_PRSTATUS, &part) != 0) return std::strerror(errno);
  constexpr uint64_t kCodeOf64Bits = 0x33;
  if (registers_.cs != kCodeOf64Bits) return "it runs 32-bit code";
  if (registers_.orig_rax == SYS_restart_syscall) return "it is in a call that cannot begin anew";
  return is_in_restartable_sequence() ? "it is in a restartable sequence" : "";
}

// The kernel would lead a signal's handler to the sequence's abort address first (rseq(2)).
bool StoppedThread::is_in_restartable_sequence() const {
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
  return registers_.rip - sequence.start_avma < sequence.bytes;
}

void StoppedThread::let_go() {
  if (id_ == 0) return;
  if (!has_called_ && is_to_begin_anew(registers_) && static_cast<int64_t>(registers_.rax) == -EINTR)
    set_registers(begun_anew(registers_));
  // One that did not stop in time may stop yet: it must not stand still, traced by nobody.
  const uint64_t start_ns = monotonic_ns();
  while (::ptrace(PTRACE_DETACH, id_, nullptr, nullptr) != 0 && monotonic_ns() - start_ns < kMostStopNs) {
    int status = 0;
    if (::waitpid(id_, &status, __WALL | WNOHANG) < 0) break;
    ::nanosleep(&kPause, nullptr);
  }
  id_ = 0;
}

bool StoppedThread::set_registers(const user_regs_struct& registers) {
  user_regs_struct copy = registers;
  iovec part{&copy, sizeof copy};
  return ::ptrace(PTRACE_SETREGSET, id_, NT_PRSTATUS, &part) == 0;
}

std::optional<uint64_t> StoppedThread::system_call() const {
  if (registers_.orig_rax == kNoCall) return std::nullopt;
  return registers_.orig_rax;
}

std::string StoppedThread::prepare(uint64_t restorer_avma, size_t text_bytes) {
  std::vector<unsigned char> vectors(kMostVectorBytes);
  iovec part{vectors.data(), vectors.size()};
  if (::ptrace(PTRACE_GETREGSET, id_, NT_X86_XSTATE, &part) != 0) return std::strerror(errno);
  if (::ptrace(PTRACE_GETSIGMASK, id_, sizeof mask_, &mask_) != 0) return std::strerror(errno);
  vectors_.assign(vectors.begin(), vectors.begin() + static_cast<std::ptrdiff_t>(part.iov_len));
  const size_t vector_bytes = used_vector_bytes(vectors, part.iov_len);
  _fpx_sw_bytes words{};
  constexpr uint64_t kLegacy = 3;
  uint64_t features = 0;
  std::memcpy(&features, vectors.data() + kFeaturesAt, sizeof features);
  features |= kLegacy;
  words.magic1 = kMagicBefore;
  words.extended_size = static_cast<uint32_t>(vector_bytes + sizeof kMagicBehind);
  words.xstate_bv = features;
  words.xstate_size = static_cast<uint32_t>(vector_bytes);
  std::memcpy(vectors.data() + kExtendedAt, &words, sizeof words);
  vectors.resize(vector_bytes + sizeof kMagicBehind);
  std::memcpy(vectors.data() + vector_bytes, &kMagicBehind, sizeof kMagicBehind);

  text_bytes_ = (text_bytes + 63) & ~size_t{63};
  text_avma_ = (registers_.rsp - kRedZoneBytes - text_bytes_) & ~uint64_t{63};
  const uint64_t vectors_avma = (text_avma_ - vectors.size()) & ~uint64_t{63};
  frame_avma_ = ((vectors_avma - sizeof(SignalFrame)) & ~uint64_t{15}) - 8;
  SignalFrame frame{};
  frame.return_avma = restorer_avma;
  frame.flags = kFlags;
  frame.stack[1] = kNoAlternateStack;
  fill_registers(begun_anew(registers_), frame.registers);
  frame.vectors_avma = vectors_avma;
  frame.mask = mask_;
  if (!write_memory(pid_, vectors_avma, vectors.data(), vectors.size()) ||
      !write_memory(pid_, frame_avma_, &frame, sizeof frame))
    return std::string("its stack cannot be written to: ") + std::strerror(errno);
  is_prepared_ = true;
  return "";
}

bool StoppedThread::write_text(size_t offset, const std::string& text) {
  return offset + text.size() + 1 <= text_bytes_ &&
         write_memory(pid_, text_avma_ + offset, text.c_str(), text.size() + 1);
}

bool StoppedThread::read_text(size_t offset, void* to, size_t bytes) const {
  iovec local{to, bytes};
  iovec remote{reinterpret_cast<void*>(text_avma_ + offset), bytes};
  return offset + bytes <= text_bytes_ &&
         process_vm_readv(pid_, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

std::string StoppedThread::call(uint64_t function_avma, const std::vector<uint64_t>& arguments,
                                std::chrono::seconds most) {
  user_regs_struct registers = registers_;
  unsigned long long* const places[] = {&registers.rdi, &registers.rsi, &registers.rdx, &registers.rcx};
  for (size_t i = 0; i < arguments.size() && i < 4; ++i) *places[i] = arguments[i];
  registers.rip = function_avma;
  registers.rsp = frame_avma_;
  registers.rax = 0;  // no vector register has an argument
  registers.orig_rax = kNoCall;
  registers.eflags &= ~kDirectionFlag;
  if (!set_registers(registers)) return std::strerror(errno);
  has_called_ = true;
  // Blocked, a fault's signal would have its handler taken away by the kernel.
  uint64_t all = ~uint64_t{0};
  for (const int fault : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP, SIGSYS}) all &= ~(uint64_t{1} << (fault - 1));
  ::ptrace(PTRACE_SETSIGMASK, id_, sizeof all, &all);
  return await_return(most);
}

std::string StoppedThread::await_return(std::chrono::seconds most) {
  const uint64_t start_ns = monotonic_ns();
  const uint64_t most_ns = static_cast<uint64_t>(most.count()) * 1'000'000'000;
  if (::ptrace(PTRACE_SYSCALL, id_, nullptr, nullptr) != 0) return std::strerror(errno);
  for (;;) {
    int status = 0;
    const pid_t news = ::waitpid(id_, &status, __WALL | WNOHANG);
    if (news == 0) {
      // It is let run on: the kernel puts back what it was at when the function returns.
      if (monotonic_ns() - start_ns > most_ns) return "it did not return in time";
      ::nanosleep(&kPause, nullptr);
      continue;
    }
    if (news < 0 || !WIFSTOPPED(status)) {
      id_ = 0;
      return "the process ended meanwhile";
    }
    int signal = 0;
    if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
      user_regs_struct now{};
      iovec part{&now, sizeof now};
      if (::ptrace(PTRACE_GETREGSET, id_, NT_PRSTATUS, &part) != 0) return std::strerror(errno);
      if (now.orig_rax == SYS_rt_sigreturn && now.rsp == frame_avma_ + sizeof(uint64_t)) return "";
    } else if (status >> 16 == 0) {
      signal = WSTOPSIG(status);
      const bool is_fault =
          signal == SIGSEGV || signal == SIGBUS || signal == SIGILL || signal == SIGFPE || signal == SIGSYS;
      if (is_fault) {  // of what it called: it goes on where it was
        set_registers(begun_anew(registers_));
        iovec vectors{vectors_.data(), vectors_.size()};
        ::ptrace(PTRACE_SETREGSET, id_, NT_X86_XSTATE, &vectors);
        ::ptrace(PTRACE_SETSIGMASK, id_, sizeof mask_, &mask_);
        return std::string("it got signal ") + std::to_string(signal) + " in what it was made to call";
      }
    }
    ::ptrace(PTRACE_SYSCALL, id_, nullptr, signal);
  }
}

}  // namespace heapprof::cli
