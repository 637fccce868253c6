// cli/attach/own_thread.cc: see own_thread.h.
//
// A function that returns runs libc's `mov %rax,%rdi; mov $SYS_exit,%eax; syscall`, and the thread stops before that
// call, as before each system call. The result is in rdi, the call is skipped, and the next function begins. No
// breakpoint is needed. The agent's own function makes some 50 system calls for each library. It is called last, and
// the thread stops once, as it exits (PTRACE_O_TRACEEXIT).
//
// Thread control block (tcbhead_t of glibc on x86-64): itself, dtv, itself, whether there are several threads, unused,
// stack guard (0x28), pointer guard (0x30). The word before dtv's first slot holds the number of slots. heapprof makes
// more slots than there can be modules, so that the loader never allocates a larger dtv.
#include "cli/attach/own_thread.h"

#include "cli/attach/thread_status.h"
#include "cli/base/clock.h"
#include "shared/attach.h"

#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

namespace heapprof::cli {

namespace {

constexpr char kGoneOrAnother[] = "the process has ended, or started another program (exec), at this moment";

constexpr uint64_t kRegionBytes = 512 << 10;
constexpr uint64_t kStackBytes = 384 << 10;
constexpr uint64_t kFirstSlotAt = kStackBytes + 4096;
constexpr uint64_t kFirstBlockAt = kStackBytes + (96 << 10);     // a bare control block, with zeros around it
constexpr uint64_t kFirstVectorAt = kFirstBlockAt - (16 << 10);  // its dtv, of a few slots
constexpr uint64_t kModules = 8192;
constexpr uint64_t kNoCall = UINT64_MAX;
constexpr std::chrono::milliseconds kMostStep{2000};
constexpr uint64_t kLeavePatienceNs = 1'000'000'000;
constexpr uint64_t kHoldNs = 50'000'000;  // how long the program's only thread is held at most
constexpr uint64_t kPollNs = 2'000'000;
constexpr int kWaitsUntilLetGo = 5;  // polls in which heapprof's thread waits for a lock
static_assert(kFirstSlotAt + OwnThread::kSlots * OwnThread::kSlotBytes <= kFirstVectorAt);

std::string error_text(int64_t result) { return std::strerror(static_cast<int>(-result)); }
bool is_failure(int64_t result) { return result < 0 && result > -4096; }

// The futex that a thread waits for; nullopt: it waits for none.
std::optional<uint64_t> awaited_futex(pid_t pid, pid_t id) {
  std::ifstream file(fmt::format("/proc/{}/task/{}/syscall", pid, id));
  long number = -1;
  std::string first;
  if (!(file >> number >> first) || number != SYS_futex) return std::nullopt;
  return std::strtoull(first.c_str(), nullptr, 16);
}

std::vector<uint32_t> loader_words(pid_t pid, const Libc& libc) {
  constexpr uint64_t kMostBytes = 1 << 20;
  std::vector<uint32_t> words(std::min(libc.loader_state.size_bytes, kMostBytes) / sizeof(uint32_t));
  if (!read_memory(pid, libc.loader_state.start_avma, words.data(), words.size() * sizeof(uint32_t))) words.clear();
  return words;
}

bool is_stop_of_all(int status) { return WIFSTOPPED(status) && status >> 16 == 0 && WSTOPSIG(status) == SIGSTOP; }

// A recursive mutex of glibc: state, recursion count, owner, number of users, kind.
constexpr size_t kMutexWords = 5;
bool is_taken_mutex(const uint32_t* words) {
  constexpr uint32_t kRecursive = 1;
  return words[0] != 0 && words[1] != 0 && words[1] < 1024 && words[3] == 1 && words[4] == kRecursive;
}

}  // namespace

pid_t owner_of_loader(pid_t pid, const Libc& libc) {
  const std::vector<uint32_t> words = loader_words(pid, libc);
  for (size_t i = 0; i + kMutexWords <= words.size(); ++i) {
    if (!is_taken_mutex(&words[i])) continue;
    const auto owner = static_cast<pid_t>(words[i + 2]);  // its id in the process's own pid namespace
    for (const pid_t id : thread_ids(pid)) {
      if (owner > 0 && id_in_own_namespace(pid, id) == owner) return id;
    }
  }
  return 0;
}

bool OwnThread::holds_lock_of_loader() const {
  const std::vector<uint32_t> words = loader_words(pid_, libc_);
  return words.empty() || std::count(words.begin(), words.end(), static_cast<uint32_t>(inner_id_)) != 0;
}

uint64_t OwnThread::slot_avma(size_t slot) const { return memory_.region_avma + kFirstSlotAt + slot * kSlotBytes; }

uint64_t OwnThread::put(size_t slot, const std::string& text) {
  if (text.size() < kSlotBytes) write_memory(pid_, slot_avma(slot), text.c_str(), text.size() + 1);
  return slot_avma(slot);
}

std::string OwnThread::make_region() {
  if (memory_.region_avma != 0) return "";
  constexpr uint64_t kAnonymous = UINT64_MAX;
  const int64_t made = lender_->system_call(
      SYS_mmap, {0, kRegionBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, kAnonymous, 0});
  if (is_failure(made)) return "it was refused memory: " + error_text(made);
  memory_.region_avma = static_cast<uint64_t>(made);
  return "";
}

std::string OwnThread::start(TracedThread* lender, bool is_only, wire::AttachThread kept) {
  lender_ = lender;
  held_since_ns_ = monotonic_ns();
  memory_ = kept;
  if (std::string failure = make_region(); !failure.empty()) return failure;
  lender_->keep_registers(libc_.code, {memory_.region_avma, kStackBytes / 2}, false);
  uint64_t header[8] = {};
  if (!read_memory(pid_, lender_->registers().fs_base, header, sizeof header))
    return "its thread pointer leads nowhere";
  std::copy(header + 5, header + 7, guards_);
  const uint64_t first_avma = memory_.tcb_avma != 0 ? memory_.tcb_avma : memory_.region_avma + kFirstBlockAt;
  if (memory_.tcb_avma == 0) {
    constexpr uint64_t kFewModules = 512;
    const uint64_t vector_avma = memory_.region_avma + kFirstVectorAt;
    const uint64_t block[8] = {first_avma, vector_avma + 16, first_avma, 1, 0, guards_[0], guards_[1], 0};
    write_memory(pid_, first_avma, block, sizeof block);
    write_memory(pid_, vector_avma, &kFewModules, sizeof kFewModules);
  }
  // If heapprof ends, the thread continues at the instructions that end a thread.
  const uint64_t stack_avma = memory_.region_avma + kStackBytes - 256;
  const uint64_t end_avma = libc_.code.end_thread_avma;
  write_memory(pid_, stack_avma, &end_avma, sizeof end_avma);
  // Without CLONE_FS: a thread that shares its file system information with another one may not change its mount
  // namespace (setns(2)).
  constexpr uint64_t kFlags =
      CLONE_VM | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS | CLONE_CHILD_SETTID;
  const int64_t made = lender_->clone({kFlags, stack_avma, 0, first_avma + libc_.thread_id_off, first_avma, 0}, &id_);
  if (is_failure(made)) return "it was refused a thread: " + error_text(made);
  inner_id_ = static_cast<pid_t>(made);
  const uint64_t all = all_but_faults();
  if (::ptrace(PTRACE_SETOPTIONS, id_, nullptr, PTRACE_O_TRACESYSGOOD) != 0 ||
      ::ptrace(PTRACE_SETSIGMASK, id_, sizeof all, &all) != 0 || !get_registers(id_, &registers_) ||
      !set_initial_state(id_, &registers_))
    return "its new thread did not stop";
  registers_.orig_rax = kNoCall;
  if (is_only) {
    claim_threads();
  } else {
    lender_->let_go();
  }
  if (memory_.tcb_avma == 0) return make_storage();
  const auto id = static_cast<uint32_t>(inner_id_);
  write_memory(pid_, memory_.tcb_avma + libc_.thread_id_off, &id, sizeof id);
  return "";
}

// Lets the thread run to its next stop. SIGSTOP, which cannot be blocked, stops the whole process and so this thread,
// too. heapprof lets this thread run on; the others stay stopped until they get SIGCONT.
std::optional<int> OwnThread::resume(__ptrace_request how) {
  const uint64_t until_ns = monotonic_ns() + 2'000'000'000;
  for (int signal = 0;;) {
    if (::ptrace(how, id_, nullptr, signal) != 0) return std::nullopt;
    const std::optional<int> status = await_stop(id_, until_ns);
    if (!status || (!is_event_stop(*status) && !is_stop_of_all(*status))) return status;
    if (monotonic_ns() >= until_ns) return std::nullopt;
    signal = is_stop_of_all(*status) ? SIGSTOP : 0;
  }
}

// Makes the thread execute a system call. Returns the kernel's result: a negative value is an error.
int64_t OwnThread::system_call(uint64_t number, const std::array<uint64_t, 6>& arguments) {
  user_regs_struct registers = registers_;
  registers.rip = libc_.code.system_call_avma;
  registers.rax = number;
  registers.orig_rax = kNoCall;
  registers.rdi = arguments[0], registers.rsi = arguments[1], registers.rdx = arguments[2];
  registers.r10 = arguments[3], registers.r8 = arguments[4], registers.r9 = arguments[5];
  registers.rsp = memory_.region_avma + kStackBytes - 256;
  if (!set_registers(id_, registers)) return -ESRCH;
  for (int stops = 0; stops < 2;) {
    const std::optional<int> status = resume(PTRACE_SYSCALL);
    if (!status || !WIFSTOPPED(*status)) return -ESRCH;
    if (!keep_sent(*status) && is_call_stop(*status)) ++stops;
  }
  return get_registers(id_, &registers) ? static_cast<int64_t>(registers.rax) : -ESRCH;
}

// True if the thread is stopped for a signal that a process sent, which it must not take: the signal is kept for
// send_again().
bool OwnThread::keep_sent(int status) {
  if (is_stop_of_all(status)) return false;
  const std::optional<siginfo_t> sent = sent_signal(id_, status);
  if (sent) sent_.push_back(*sent);
  return sent.has_value();
}

// A thread of the process has to send the signals: the kernel lets no other process send a signal that claims to be
// from kill() or tgkill(). rt_sigqueueinfo() allows that if the target is the calling thread's own id, and sends the
// signal to the whole process all the same.
void OwnThread::send_again() {
  const uint64_t info_avma = slot_avma(kSlots - 1);
  for (const siginfo_t& sent : std::exchange(sent_, {})) {
    const auto number = static_cast<uint64_t>(sent.si_signo);
    if (id_ != 0 && write_memory(pid_, info_avma, &sent, sizeof sent) &&
        system_call(SYS_rt_sigqueueinfo, {static_cast<uint64_t>(inner_id_), number, info_avma, 0, 0, 0}) == 0)
      continue;
    if (::syscall(SYS_rt_sigqueueinfo, pid_, sent.si_signo, &sent) != 0) ::kill(pid_, sent.si_signo);
  }
}

// Makes thread-local storage like pthread_create, on memory that is never freed.
std::string OwnThread::make_storage() {
  uint64_t sizes[2] = {};  // bytes, alignment
  uint64_t ignored = 0;
  const auto failed = [&](const char* what) { return fmt::format("{} did not return: {}", what, failure_); };
  if (call(libc_.tls_size_avma, {slot_avma(0), slot_avma(0) + sizeof sizes[0]}, &ignored, kMostStep) !=
          CallEnd::kReturned ||
      !read_memory(pid_, slot_avma(0), sizes, sizeof sizes))
    return failed("_dl_get_tls_static_info");
  constexpr uint64_t kMostStorage = 64u << 20;
  const uint64_t alignment = std::max<uint64_t>(sizes[1], 64);
  if (sizes[0] > kMostStorage || alignment > kMostStorage || (alignment & (alignment - 1)) != 0)
    return "the size of its thread-local storage makes no sense";
  const uint64_t bytes = sizes[0] + 2 * alignment + libc_.descriptor_bytes + 8192 + (kModules + 2) * 16;
  const int64_t made = system_call(
      SYS_mmap, {0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, UINT64_MAX, 0});
  if (is_failure(made)) return "it was refused memory: " + error_text(made);
  const uint64_t tcb_avma = (static_cast<uint64_t>(made) + sizes[0] + alignment - 1) & ~(alignment - 1);
  const uint64_t vector_avma = (tcb_avma + libc_.descriptor_bytes + 4096 + 15) & ~uint64_t{15};
  const uint64_t block[8] = {tcb_avma, vector_avma + 16, tcb_avma, 1, 0, guards_[0], guards_[1], 0};
  const auto id = static_cast<uint32_t>(inner_id_);
  write_memory(pid_, tcb_avma, block, sizeof block);
  write_memory(pid_, vector_avma, &kModules, sizeof kModules);
  write_memory(pid_, tcb_avma + libc_.thread_id_off, &id, sizeof id);
  int64_t rseq_off = 0;  // of struct rseq, from the thread pointer; the loader sets it as the program starts
  const bool has_rseq = libc_.rseq_off_avma != 0 && read_memory(pid_, libc_.rseq_off_avma, &rseq_off, sizeof rseq_off);
  if (has_rseq && rseq_off != 0) {  // marked as not registered, in the kernel's form
    constexpr uint64_t kProcessorAt = 4;
    constexpr int32_t kNotRegistered = -1;
    write_memory(pid_, tcb_avma + static_cast<uint64_t>(rseq_off) + kProcessorAt, &kNotRegistered,
                 sizeof kNotRegistered);
  }
  registers_.fs_base = tcb_avma;
  // Before glibc 2.35, the function has one argument. Since then, a second one says whether the main program's storage
  // is initialized, too.
  if (call(libc_.init_tls_avma, {tcb_avma, 1}, &ignored, kMostStep) != CallEnd::kReturned)
    return failed("_dl_allocate_tls_init");
  memory_.tcb_avma = tcb_avma;
  if (libc_.init_ctype_avma != 0 && call(libc_.init_ctype_avma, {}, &ignored, kMostStep) != CallEnd::kReturned)
    return failed("__ctype_init");
  return "";
}

// Tells libc that there are two threads: it takes locks from now on.
void OwnThread::claim_threads() {
  const auto set = [&](uint64_t avma, uint32_t value, size_t bytes) {
    Flag flag{avma, 0, bytes};
    if (read_memory(pid_, avma, &flag.old, bytes) && write_memory(pid_, avma, &value, bytes)) flags_.push_back(flag);
  };
  constexpr uint64_t kSeveralThreadsAt = 0x18;  // tcbhead_t::multiple_threads
  for (const uint64_t avma : libc_.single_threaded_avmas) set(avma, 0, 1);
  set(lender_->registers().fs_base + kSeveralThreadsAt, 1, sizeof(uint32_t));
}

void OwnThread::put_flags_back() {
  for (const Flag& flag : flags_) write_memory(pid_, flag.avma, &flag.old, flag.bytes);
  flags_.clear();
}

// Skips the system call before which the thread is stopped, and moves the thread back to the instructions before that
// call. So if heapprof ends now, the thread executes the call, which ends it.
bool OwnThread::skip_call() {
  user_regs_struct registers{};
  if (!get_registers(id_, &registers)) return false;
  registers.orig_rax = kNoCall;
  registers.rip = libc_.code.end_thread_avma;
  if (!set_registers(id_, registers)) return false;
  const std::optional<int> status = resume(PTRACE_SYSCALL);
  if (!status || !WIFSTOPPED(*status) || !get_registers(id_, &registers_)) return false;
  registers_.orig_rax = kNoCall;
  return true;
}

uint64_t OwnThread::frame_avma() const {
  return ((memory_.region_avma + kStackBytes - 64) & ~uint64_t{15}) - sizeof(uint64_t);
}

// True if the function that heapprof called has returned, and the thread is in the system call that ends it.
bool OwnThread::has_returned(const user_regs_struct& registers) const {
  return registers.orig_rax == SYS_exit && registers.rip == libc_.code.end_thread_avma + kEndThreadBytes &&
         registers.rsp == frame_avma() + sizeof(uint64_t);
}

CallEnd OwnThread::call(uint64_t function_avma, std::initializer_list<uint64_t> arguments, uint64_t* result,
                        std::chrono::milliseconds most, Turn turn) {
  constexpr int kFaults[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGSYS};
  // If the thread took signals, it must not end before it has sent them again.
  auto go_on = turn == Turn::kLast && sent_.empty() ? PTRACE_CONT : PTRACE_SYSCALL;
  user_regs_struct registers = registers_;
  uint64_t words[3] = {};
  std::copy_n(arguments.begin(), std::min<size_t>(arguments.size(), 3), words);
  const uint64_t end_avma = libc_.code.end_thread_avma;
  registers.rip = function_avma;
  registers.rsp = frame_avma();
  registers.rdi = words[0], registers.rsi = words[1], registers.rdx = words[2];
  registers.rax = 0;  // no vector register has an argument
  registers.rbp = 0;
  registers.orig_rax = kNoCall;
  failure_ = kGoneOrAnother;
  if (turn == Turn::kLast) ::ptrace(PTRACE_SETOPTIONS, id_, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXIT);
  if (!set_initial_state(id_, &registers) || !write_memory(pid_, frame_avma(), &end_avma, sizeof end_avma) ||
      !set_registers(id_, registers) || ::ptrace(go_on, id_, nullptr, nullptr) != 0)
    return CallEnd::kEnded;
  const uint64_t start_ns = monotonic_ns();
  const uint64_t most_ns = static_cast<uint64_t>(most.count()) * 1'000'000;
  int waits = 0;
  uint64_t waits_in_vain_ns = 0;  // since when the thread waits although heapprof has to leave; 0: it does not
  for (uint64_t next_ns = start_ns + kPollNs / 4;;) {
    const std::optional<int> status = await_stop(id_, next_ns);
    const uint64_t now_ns = monotonic_ns();
    if (!status) {
      next_ns = now_ns + kPollNs;
      waits = awaited_futex(pid_, id_) ? waits + 1 : 0;
      if (lender_->is_held() && (waits >= kWaitsUntilLetGo || now_ns - held_since_ns_ > kHoldNs)) {
        was_let_go_ = true;
        lender_->let_go();
      }
      if (now_ns - start_ns > most_ns && waits > 0) return give_up();
      if (now_ns - start_ns > 2 * most_ns) return leave();
      // It waits for other threads, which may be stopped.
      const bool is_in_vain = has_to_leave_ && (waits > 0 || line_of_status(pid_, pid_, "State:\t").starts_with('T'));
      if (!is_in_vain) waits_in_vain_ns = 0;
      if (is_in_vain && waits_in_vain_ns == 0) waits_in_vain_ns = now_ns;
      if (is_in_vain && now_ns - waits_in_vain_ns > kLeavePatienceNs) return give_up();
      continue;
    }
    if (!WIFSTOPPED(*status)) {
      id_ = 0;
      return CallEnd::kEnded;
    }
    int signal = 0;
    if (*status >> 16 == PTRACE_EVENT_EXIT) {
      const bool has_result = get_registers(id_, &registers) && has_returned(registers);
      *result = registers.rdi;
      resume(PTRACE_CONT);
      id_ = 0;
      return has_result ? CallEnd::kReturned : CallEnd::kEnded;
    }
    if (is_call_stop(*status)) {
      if (!get_registers(id_, &registers)) return CallEnd::kEnded;
      if (has_returned(registers)) {
        *result = registers.rdi;
        return skip_call() ? CallEnd::kReturned : CallEnd::kEnded;
      }
    } else if (keep_sent(*status)) {
      go_on = PTRACE_SYSCALL;
    } else if (*status >> 16 == 0) {
      signal = WSTOPSIG(*status);
      if (std::count(std::begin(kFaults), std::end(kFaults), signal) != 0 && get_registers(id_, &registers))
        return end_at_fault(signal, registers);
      if (signal == SIGTRAP) signal = 0;
    }
    ::ptrace(go_on, id_, nullptr, signal);
  }
}

// Releases the loader's locks that the thread holds, because the frames that would have released them are abandoned.
CallEnd OwnThread::end_at_fault(int signal, user_regs_struct registers) {
  const std::string failure =
      fmt::format("signal {} at {:#x} in what it was made to call", signal, uint64_t{registers.rip});
  registers_ = registers;
  registers_.orig_rax = kNoCall;
  ::ptrace(PTRACE_SETOPTIONS, id_, nullptr, PTRACE_O_TRACESYSGOOD);
  if (!is_unlocking_ && libc_.unlock_avma != 0) {
    is_unlocking_ = true;
    const std::vector<uint32_t> words = loader_words(pid_, libc_);
    for (size_t i = 0; i + kMutexWords <= words.size(); ++i) {
      if (!is_taken_mutex(&words[i]) || words[i + 2] != static_cast<uint32_t>(inner_id_)) continue;
      uint64_t ignored = 0;
      for (uint32_t times = words[i + 1]; times != 0 && id_ != 0; --times)
        call(libc_.unlock_avma, {libc_.loader_state.start_avma + i * sizeof(uint32_t)}, &ignored, kMostStep);
    }
    is_unlocking_ = false;
  }
  if (!is_unlocking_) finish();
  failure_ = failure;
  return CallEnd::kFault;
}

// Called when heapprof's thread has waited for a lock for too long. The thread may be ended only if it waits for a lock
// of the loader, holds no lock of the loader, and has not been woken. The lock's word is left unchanged, so the next
// unlock wakes one thread too many, which does no harm.
CallEnd OwnThread::give_up() {
  failure_ = "it waited for a lock that another thread held";
  ::ptrace(PTRACE_INTERRUPT, id_, nullptr, nullptr);
  const std::optional<int> status = await_stop(id_, monotonic_ns() + 1'000'000'000);
  user_regs_struct registers{};
  if (status && is_stop_of_all(*status)) ::ptrace(PTRACE_CONT, id_, nullptr, SIGSTOP);
  if (!status || keep_sent(*status) || !WIFSTOPPED(*status) || !get_registers(id_, &registers)) return leave();
  constexpr std::array<int64_t, 3> kStillWaits = {-512, -514, -516};
  const auto result = static_cast<int64_t>(registers.rax);
  const bool still_waits = std::count(kStillWaits.begin(), kStillWaits.end(), result) != 0;
  if (is_event_stop(*status) && registers.orig_rax == SYS_futex && still_waits && is_lock_of_loader(registers.rdi) &&
      !holds_lock_of_loader()) {
    registers_ = registers;
    registers_.orig_rax = kNoCall;
    finish();
    return CallEnd::kGivenUp;
  }
  return leave();
}

CallEnd OwnThread::leave() {
  if (failure_.empty() || failure_ == kGoneOrAnother) failure_ = "it did not return in time";
  ::ptrace(PTRACE_INTERRUPT, id_, nullptr, nullptr);
  const uint64_t until_ns = monotonic_ns() + 1'000'000'000;
  for (int signal = 0; ::ptrace(PTRACE_DETACH, id_, nullptr, signal) != 0 && monotonic_ns() < until_ns;) {
    const std::optional<int> status = await_stop(id_, until_ns);
    if (status) keep_sent(*status);
    signal = status && is_stop_of_all(*status) ? SIGSTOP : 0;
  }
  id_ = 0;
  send_again();
  was_let_go_ = was_left_ = true;
  return CallEnd::kLeft;
}

// Makes the thread end and reaps it: until then the process's parent cannot reap the process.
void OwnThread::finish() {
  if (id_ == 0) return send_again();
  constexpr uint64_t kAll = ~uint64_t{0};  // signals sent from now on are for other threads; no fault is expected
  ::ptrace(PTRACE_SETSIGMASK, id_, sizeof kAll, &kAll);
  send_again();
  user_regs_struct registers = registers_;
  registers.rip = libc_.code.end_thread_avma;
  registers.orig_rax = kNoCall;
  set_registers(id_, registers);
  ::ptrace(PTRACE_SETOPTIONS, id_, nullptr, PTRACE_O_TRACESYSGOOD);  // no stop at exit
  resume(PTRACE_CONT);
  id_ = 0;
}

void OwnThread::end() {
  finish();
  if (lender_ == nullptr) return;
  if (!was_let_go_) put_flags_back();
  lender_->let_go();
  lender_ = nullptr;
}

}  // namespace heapprof::cli
