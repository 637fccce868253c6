// cli/run/signals.cc: signals are read from a signalfd, so that they interrupt no system call.
//
// A handler could only set a flag, which the loop would have to check everywhere. A signalfd is just one more
// descriptor to wait for. But the signals have to be blocked, and children inherit the mask. So the previous mask is
// kept, and restored in every child.
//
// A signal that reached us may have reached the program, too: a terminal's Ctrl-C and kill(-group) go to all processes
// of our group, and systemd sends to each process of a control group in turn. The siginfo is the same in all cases, and
// a handled signal leaves no trace in /proc. But if an epoll instance watches a signalfd, the kernel wakes it whenever
// a signal that is not ignored is sent to the process that *added* the signalfd (epoll(7) under signalfd(2)). So the
// child adds a signalfd to our epoll instance before its exec. From then on, we are woken when the program is sent a
// signal, but do not learn which one. epoll_wait() then asks the signalfd again in our own context, and drops the event
// if no signal is pending there. Therefore one signal always stays pending in our main thread (kMarker), and the
// registration is edge-triggered.
//
// A signal to a group reaches us and the program at about the same time. So a signal that is usually sent to groups
// (the terminal's, and SIGTERM) is held back for kTogetherNs, and forwarded only if the program was sent no signal in
// that time. All other signals are forwarded at once; otherwise a SIGCHLD to the program would be taken for the SIGUSR1
// that we got. If a program gets other signals all the time (a shell's SIGCHLD, timers), the wake-up proves nothing, so
// all signals are forwarded at once. If in doubt, a signal is forwarded: to get it twice is bad, but never to get it is
// worse.
//
// Between an init and its run nothing is guessed. The init forwards each signal as the payload of a real-time signal
// (kCarrier), because these are queued, while a signal of the original number would merge with a pending one. If a
// signal reaches the run directly and through the init, the run drops the second. If it comes only through the init, it
// was not sent to the group, so the program did not get it. The run sends signals for our parent to the init in the
// same way, so that the init does not forward them back.
#include "cli/run/signals.h"

#include "cli/base/clock.h"
#include "cli/base/sanitizers.h"
#include "cli/target/proc_file.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>

namespace heapprof::cli {

namespace {

constexpr int kMarker = SIGSTKFLT;  // the kernel never sends it on this architecture
// `timeout` and shells signal the process and then its group: that is one request, not two.
constexpr uint64_t kSecondAfterNs = 200'000'000;
constexpr uint64_t kTogetherNs = 3'000'000;   // systemd took 0.1 to 0.4 ms for a control group of 8 processes
constexpr uint64_t kSameLookNs = 2'000'000;   // the collector's longest time between two checks
constexpr uint64_t kQuietNs = 5'000'000'000;  // after this time without signals, a new one is taken for ours
constexpr uint64_t kBothNs = 1'000'000'000;   // under load, init and run may read a signal this far apart
constexpr size_t kMostSingles = 4096;
// The signal that carries another one between init and run. Its si_code is one that no other sender uses, and its
// si_errno has the number and the si_code of the carried signal.
const int kCarrier = SIGRTMAX;
constexpr int kCarries = -113;
constexpr useconds_t kStillStoppedUs = 50'000;

bool is_terminals(int number) {
  for (const int one : {SIGINT, SIGQUIT, SIGTSTP, SIGHUP, SIGWINCH, SIGTTIN, SIGTTOU, SIGCONT}) {
    if (one == number) return true;
  }
  return false;
}

// Whether this signal is usually sent to whole process groups.
bool is_for_groups(int number) { return number == SIGTERM || is_terminals(number); }

// Whether the signal's default action ends a process. False also for signals that heapprof itself survives.
bool is_ending(int number) {
  for (const int one : {SIGCHLD, SIGCONT, SIGWINCH, SIGURG, SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE, SIGXFSZ, SIGXCPU}) {
    if (one == number) return false;
  }
  return true;
}

// Whether the kernel sent the signal because of something that we or our children did.
bool is_about_us(const signalfd_siginfo& info) {
  const auto number = static_cast<int>(info.ssi_signo);
  if (number == SIGCHLD || number == SIGXCPU) return info.ssi_code > 0;
  if (number == SIGPIPE || number == SIGXFSZ) return static_cast<pid_t>(info.ssi_pid) == getpid();
  return false;
}

// Sends the signal as kill(2) does, or as sigqueue(3) does with its value.
void forward(pid_t pid, const signalfd_siginfo& info) {
  const auto number = static_cast<int>(info.ssi_signo);
  if (info.ssi_code == SI_QUEUE) {
    siginfo_t queued{};
    queued.si_signo = number;
    queued.si_code = SI_QUEUE;
    queued.si_pid = static_cast<pid_t>(info.ssi_pid);
    queued.si_uid = info.ssi_uid;
    queued.si_value.sival_ptr = reinterpret_cast<void*>(info.ssi_ptr);
    if (syscall(SYS_rt_sigqueueinfo, pid, number, &queued) == 0) return;
  }
  kill(pid, number);
}

bool g_has_init = false;

// Sends the signal inside a kCarrier between our two processes. For a queued signal, the receiver's signalfd has the
// original sender and value.
void carry(pid_t pid, const signalfd_siginfo& info, int code) {
  siginfo_t carried{};
  carried.si_signo = kCarrier;
  carried.si_code = kCarries;
  carried.si_errno = static_cast<int>(info.ssi_signo) << 16 | (code & 0xffff);
  carried.si_pid = static_cast<pid_t>(info.ssi_pid);
  carried.si_uid = info.ssi_uid;
  carried.si_value.sival_ptr = reinterpret_cast<void*>(info.ssi_ptr);
  if (syscall(SYS_rt_sigqueueinfo, pid, kCarrier, &carried) != 0) kill(pid, static_cast<int>(info.ssi_signo));
}

// True if *info is a carrier; it is then replaced by the carried signal.
bool unwrap(signalfd_siginfo* info) {
  if (static_cast<int>(info->ssi_signo) != kCarrier || info->ssi_code != kCarries) return false;
  info->ssi_signo = static_cast<uint32_t>(info->ssi_errno) >> 16;
  info->ssi_code = static_cast<int16_t>(info->ssi_errno & 0xffff);
  info->ssi_errno = 0;
  return true;
}

// Whether a terminal's hangup sent the signal. The kernel sends it only to the leader of the terminal's session
// (tty_signal_session_leader() in drivers/tty/tty_jobctrl.c of the kernel).
bool is_hangup(const signalfd_siginfo& info) {
  const auto number = static_cast<int>(info.ssi_signo);
  return info.ssi_code == SI_KERNEL && (number == SIGHUP || number == SIGCONT) && getsid(0) == getpid();
}

// Whether the signal was typed at the terminal, and so sent to our process group, while the program is in another
// group.
bool is_for_our_group(const signalfd_siginfo& info, pid_t program) {
  const bool is_typed = info.ssi_code == SI_KERNEL && is_terminals(static_cast<int>(info.ssi_signo));
  return is_typed && !is_hangup(info) && getpgid(program) != getpgrp();
}

uint64_t signals_in(const std::string& status, const char* field) {
  const size_t at = status.find(field);
  return at == std::string::npos ? 0 : std::strtoull(status.c_str() + at + std::string(field).size(), nullptr, 16);
}

// Whether the kernel drops the signal when it is sent to that process. A dropped signal does not wake the epoll
// instance.
bool is_dropped(pid_t pid, int number) {
  const std::string status = read_proc(pid, "status");
  const auto is_in = [&](const char* field) { return (signals_in(status, field) >> (number - 1) & 1) != 0; };
  const bool is_usually = number == SIGCONT || number == SIGWINCH || number == SIGURG || number == SIGCHLD;
  return !is_in("\nSigBlk:") && (is_in("\nSigIgn:") || (is_usually && !is_in("\nSigCgt:")));
}

bool is_ignored_or_blocked(pid_t pid, int number) {
  const std::string status = read_proc(pid, "status");
  return (((signals_in(status, "\nSigIgn:") | signals_in(status, "\nSigBlk:")) >> (number - 1)) & 1) != 0;
}

// Whether our parent started us with the signal ignored. That means that the parent waits for it, as xinit does for an
// X server's SIGUSR1.
bool was_ignored_at_start(int number) {
  struct sigaction action {};
  if (number == SIGPIPE || number == SIGXFSZ) return false;  // we ignore these ourselves
  return sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
}

bool is_stopped(pid_t pid) { return read_proc(pid, "status").find("\nState:\tT") != std::string::npos; }

pid_t parent_of(pid_t pid) {
  const std::string status = read_proc(pid, "status");
  const std::string_view field = "\nPPid:";
  const size_t at = status.find(field);
  return at == std::string::npos ? 0 : static_cast<pid_t>(std::strtol(status.c_str() + at + field.size(), nullptr, 10));
}

// Whether the program, or a descendant of it, sent the signal, as by kill(getppid(), …). program: 0 if there is none.
bool is_from_below(const signalfd_siginfo& info, pid_t program) {
  constexpr int kMostGenerations = 1000;  // if pids are reused, the walk might not end
  if (info.ssi_code != SI_USER && info.ssi_code != SI_QUEUE && info.ssi_code != SI_TKILL) return false;
  pid_t pid = static_cast<pid_t>(info.ssi_pid);
  for (int i = 0; i < kMostGenerations && pid > 1 && program > 1; ++i) {
    if (pid == program) return true;
    pid = parent_of(pid);
  }
  return false;
}

// Sends our parent a signal that the program would have sent to it without heapprof in between. PID 1 gets nothing,
// because it does not expect the signal: it is the container's init, or has become our parent because ours has ended.
void pass_up(const signalfd_siginfo& info) {
  if (info.ssi_signo == SIGCHLD || getppid() <= 1) return;
  if (g_has_init) {
    carry(getppid(), info, info.ssi_code);
  } else {
    forward(getppid(), info);
  }
}

// Whether it is certain without waiting that the program meant only its parent: the sender is in another process group
// than ours, the parent waits for the signal, or the parent gets signals to the group anyway.
bool is_for_parent_alone(const signalfd_siginfo& info) {
  const auto number = static_cast<int>(info.ssi_signo);
  const pid_t group = getpgid(static_cast<pid_t>(info.ssi_pid));  // -1: the sender is gone
  if (group > 0 && group != getpgrp()) return true;
  return !is_for_groups(number) && (was_ignored_at_start(number) || getpgid(getppid()) == getpgrp());
}

// Runs in a child: continues the process `stopped` when `pid` is no longer stopped. It is needed because others may
// continue or kill the program while we are stopped.
[[noreturn]] void continue_with(pid_t pid, pid_t stopped) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (; getppid() == stopped; usleep(kStillStoppedUs)) {
    if (!is_stopped(pid)) kill(stopped, SIGCONT);  // repeatedly, as the first one may come before the stop
  }
  _exit(0);
}

}  // namespace

SignalWatch::SignalWatch() {
  sigset_t watched;
  sigfillset(&watched);
  if (kIsSanitized) {
    for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS}) sigdelset(&watched, number);
  }
  sigprocmask(SIG_BLOCK, &watched, &previous_);
  const auto set = [this](int number, sighandler_t handler) {
    struct sigaction action {};
    action.sa_handler = handler;
    struct sigaction previous {};
    if (sigaction(number, &action, &previous) == 0) previous_actions_.emplace_back(number, previous);
  };
  for (const int number : {SIGPIPE, SIGXFSZ}) set(number, SIG_IGN);
  set(SIGCHLD, SIG_DFL);  // if it stayed ignored, our child's status would be lost
  sigset_t marker;
  sigemptyset(&marker);
  sigaddset(&marker, kMarker);
  sigdelset(&watched, kMarker);
  fd_ = UniqueFd(signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK));
  if (fd_.is_open()) marker_ = UniqueFd(signalfd(-1, &marker, SFD_CLOEXEC | SFD_NONBLOCK));
  if (marker_.is_open()) programs_ = UniqueFd(epoll_create1(EPOLL_CLOEXEC));
  if (!programs_.is_open()) error_ = errno;
  if (error_ == 0) raise(kMarker);
}

void SignalWatch::drop() {
  waiting_.clear();
  signalfd_siginfo info;
  while (read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
  }
}

SignalWatch::~SignalWatch() {
  drop();
  signalfd_siginfo marker;
  [[maybe_unused]] const ssize_t taken = read(marker_.get(), &marker, sizeof marker);
  for (const int number : {SIGPIPE, SIGXFSZ}) signal(number, SIG_IGN);  // drops pending signals of any thread
  sigprocmask(SIG_SETMASK, &previous_, nullptr);
  for (const auto& [number, action] : previous_actions_) sigaction(number, &action, nullptr);
}

void SignalWatch::enter_program() const {
  epoll_event once{};
  once.events = EPOLLIN | EPOLLET;
  epoll_ctl(programs_.get(), EPOLL_CTL_ADD, marker_.get(), &once);
  for (const auto& [number, action] : previous_actions_) sigaction(number, &action, nullptr);
  sigprocmask(SIG_SETMASK, &previous_, nullptr);
}

// If the program gets many signals, each would wake us. So unless it was sent none for kQuietNs, its descriptor is only
// checked when we get a signal.
void SignalWatch::add_waiting(std::vector<pollfd>* waiting) const {
  waiting->push_back({fd_.get(), POLLIN, 0});
  is_watching_ = monotonic_ns() - programs_signal_ns_ >= kQuietNs;
  if (is_watching_) waiting->push_back({programs_.get(), POLLIN, 0});
}

void SignalWatch::note_programs_signals() {
  epoll_event event;
  if (epoll_wait(programs_.get(), &event, 1, 0) != 1) return;
  programs_signal_before_ns_ = programs_signal_ns_;
  programs_signal_ns_ = monotonic_ns();
  if (!is_watching_) programs_signal_before_ns_ = programs_signal_ns_;  // may be long ago: proves nothing
}

void SignalWatch::set_init() { g_has_init = true; }

// True if the signal was sent to both the init and this process, its run, and the other copy has already come. Copies
// of one number and sender come in pairs, in any order.
bool SignalWatch::has_come_already(const signalfd_siginfo& info, bool is_through_init) {
  const uint64_t now_ns = monotonic_ns();
  while (!singles_.empty() && (now_ns - singles_.front().ns >= kBothNs || singles_.size() >= kMostSingles))
    singles_.pop_front();
  const auto pair = std::find_if(singles_.begin(), singles_.end(), [&](const Single& single) {
    return single.number == info.ssi_signo && single.sender == info.ssi_pid &&
           single.is_through_init != is_through_init;
  });
  if (pair == singles_.end()) {
    singles_.push_back({now_ns, info.ssi_signo, info.ssi_pid, is_through_init});
    return false;
  }
  singles_.erase(pair);
  for (Waiting& waiting : waiting_) {
    if (waiting.info.ssi_signo == info.ssi_signo && waiting.info.ssi_pid == info.ssi_pid) waiting.is_to_init = false;
  }
  return true;
}

void SignalWatch::wait_for_run(pid_t pid) const {
  pollfd waiting{fd_.get(), POLLIN, 0};
  poll(&waiting, 1, -1);
  signalfd_siginfo info;
  while (read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (is_about_us(info)) continue;
    if (unwrap(&info) || static_cast<pid_t>(info.ssi_pid) == pid) {
      pass_up(info);
    } else {
      carry(pid, info, is_hangup(info) ? SI_USER : info.ssi_code);
    }
  }
}

// If the program ignores or blocks the signal, the signal would never end it. So the second such signal is taken to
// mean heapprof.
bool SignalWatch::is_for_leaving(int number, pid_t pid) {
  if (number != SIGINT && number != SIGTERM && number != SIGHUP && number != SIGQUIT) return false;
  if (!is_ignored_or_blocked(pid, number)) return false;
  const uint64_t now_ns = monotonic_ns();
  if (ignored_ns_ != 0 && now_ns - ignored_ns_ >= kSecondAfterNs) return true;
  if (ignored_ns_ == 0) ignored_ns_ = now_ns;
  return false;
}

void SignalWatch::forward_to_program(pid_t pid, const signalfd_siginfo& info) {
  forward(pid, info);
  epoll_event own;  // drops the wake-up that our own signal caused
  static_cast<void>(epoll_wait(programs_.get(), &own, 1, 0));
}

int SignalWatch::handle(pid_t pid) {
  note_programs_signals();
  signalfd_siginfo info;
  while (read(fd_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info)) {
    if (is_about_us(info)) continue;
    const bool is_to_init = g_has_init && unwrap(&info);
    if (g_has_init && has_come_already(info, is_to_init)) continue;
    const bool is_from_program = !is_to_init && is_from_below(info, pid);
    if (is_from_program && is_for_parent_alone(info)) {
      pass_up(info);
    } else {
      waiting_.push_back({info, monotonic_ns() + kTogetherNs, is_from_program, is_to_init});
    }
  }
  while (!waiting_.empty()) {
    const Waiting one = waiting_.front();
    const auto number = static_cast<int>(one.info.ssi_signo);
    const bool is_kernels = one.info.ssi_code == SI_KERNEL;
    if (pid == 0) {
      waiting_.pop_front();
      if (is_ending(number) && !one.is_from_below) return number;
      continue;
    }
    const uint64_t from_ns = one.until_ns - kTogetherNs - kSameLookNs;
    const bool is_twin = programs_signal_ns_ >= from_ns;
    const uint64_t other_ns = is_twin ? programs_signal_before_ns_ : programs_signal_ns_;
    const bool is_for_group = is_for_our_group(one.info, pid);
    if (is_hangup(one.info) || is_for_group) {
      waiting_.pop_front();
      forward(is_for_group && getpgid(pid) == pid ? -pid : pid, one.info);
      continue;
    }
    if (one.is_to_init && !is_kernels && is_for_groups(number)) {
      if (monotonic_ns() < one.until_ns) return 0;  // it may still come to this process, too
      waiting_.pop_front();
      if (is_for_leaving(number, pid)) return number;
      forward_to_program(pid, one.info);
      continue;
    }
    const bool is_alone = other_ns == 0 || other_ns + kQuietNs < from_ns;
    const bool is_quiet = is_alone && (is_for_groups(number) || one.is_from_below);
    if (is_quiet && !is_twin && monotonic_ns() < one.until_ns) return 0;
    waiting_.pop_front();
    if (one.is_from_below) {
      // If our parent is in the group, kill(0, …) reaches it anyway, once, as without heapprof. It is passed up only if
      // a signal of the program to its group would have woken us: a wrong guess could kill another process.
      if (is_alone && !is_twin && !is_dropped(pid, number)) pass_up(one.info);
      continue;
    }
    if (is_quiet ? is_twin : is_kernels && is_terminals(number)) continue;
    if (!is_kernels && is_for_leaving(number, pid)) return number;
    forward_to_program(pid, one.info);
  }
  return 0;
}

// The shell waits for us, so it notices only if we stop. A SIGCONT drops a pending stop signal. So we make our stop
// signal pending first, and then check whether the program has been continued already.
void SignalWatch::stop_with(pid_t pid, int number) {
  const pid_t own = getpid();
  const pid_t group = getpgid(pid);
  if ((number == SIGTTIN || number == SIGTTOU) && terminal_.give(pid)) {
    kill(-pid, SIGCONT);
    return;
  }
  const UniqueFd terminal = group == getpgrp() ? UniqueFd() : open_terminal();
  const bool had_terminal = terminal.is_open() && tcgetpgrp(terminal.get()) == group;
  sigset_t stop;
  sigemptyset(&stop);
  sigaddset(&stop, number);
  struct sigaction previous {};
  struct sigaction usual {};
  usual.sa_handler = SIG_DFL;
  sigaction(number, &usual, &previous);
  if (number != SIGSTOP) kill(own, number);
  if (is_stopped(pid)) {
    const pid_t waker = fork();
    if (waker == 0) continue_with(pid, own);
    if (number == SIGSTOP) kill(own, number);
    sigprocmask(SIG_UNBLOCK, &stop, nullptr);  // this process stops here
    sigprocmask(SIG_BLOCK, &stop, nullptr);
    if (waker > 0) {
      kill(waker, SIGKILL);
      waitpid(waker, nullptr, 0);
    }
  }
  if (number != SIGSTOP) sigaction(number, &previous, nullptr);
  sigaddset(&stop, SIGCONT);
  const timespec at_once{};
  bool is_continued = false;  // false: we could not be stopped, as PID 1 or in an orphaned group
  for (int got = 0; (got = sigtimedwait(&stop, nullptr, &at_once)) > 0;) is_continued = is_continued || got == SIGCONT;
  if (!is_continued || !is_stopped(pid)) return;
  if (had_terminal && tcgetpgrp(terminal.get()) == getpgrp()) tcsetpgrp(terminal.get(), group);
  kill(group == getpgrp() || group <= 0 ? pid : -group, SIGCONT);
}

}  // namespace heapprof::cli
