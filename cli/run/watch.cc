// cli/run/watch.cc: one loop does everything in turn: agents, rings, ends, snapshots, signals.
//
// There is one thread because the kernel reports the collector's death to agents by that thread's death (liveness.h),
// and because it needs no locks. So nothing in the loop may wait: sockets and pidfds are only polled, and what takes
// long (a snapshot) is done in a fork.
//
// The one decision here is how long to sleep between two rounds. If the collector is awake, it slows the program down;
// if it sleeps too long, rings run full. So it sleeps until the fullest ring is about a quarter full (pace.h). An agent
// that asks, a signal and the program's end wake it up, and only then it checks for them: checking in each round was a
// third of its cost (tests/bench/runs/2026-11-23-rounds.md).
#include "cli/run/watch.h"

#include "cli/base/clock.h"
#include "cli/collect/clock.h"
#include "cli/run/device_use_relay.h"
#include "cli/target/process_names.h"
#include "shared/env.h"

#include <sys/wait.h>

#include <algorithm>
#include <cerrno>

namespace heapprof::cli {

namespace {

// Sleeps between two drain passes. A sleep below the shortest costs more than it saves. The longest is the time that a
// silent program may have to wait when it begins to write as densely as it can: a ring of 1 MiB holds 1 ms of the
// densest events, and 10 ms of a compiler's. If full rings drop events, no event may be lost because of it.
constexpr uint64_t kShortestNapNs = 100'000;
constexpr uint64_t kLongestNapNs = 2'000'000;
constexpr uint64_t kLongestDroppingNapNs = 1'000'000;
constexpr uint64_t kNewsIntervalNs = 10'000'000;  // for events without a descriptor
constexpr uint64_t kReapIntervalNs = 10'000'000;
// After the program's end, so that processes that end with it (helpers that notice a closed pipe, the rest of a
// pipeline) are not cut off.
constexpr uint64_t kGraceNs = 200'000'000;
constexpr uint32_t kStoppedStallMs = 20;
constexpr uint64_t kSearchIntervalNs = 100'000'000;      // for processes that have not asked yet
constexpr uint64_t kShortSearchIntervalNs = 20'000'000;  // while the whole wait is kGraceNs

RunEnd decode_status(int status) {
  if (WIFSIGNALED(status)) return {EndKind::kSignaled, WTERMSIG(status)};
  return {EndKind::kExited, WEXITSTATUS(status)};
}

}  // namespace

Watch::Watch(Server* server, SignalWatch* signals, Processes* processes, SnapshotTaker* snapshots, Explainer* explainer,
             TopDesk* desk, RecordingSwitch* recording, DeviceUseWatch* use)
    : server_(*server),
      signals_(*signals),
      processes_(*processes),
      snapshots_(*snapshots),
      explainer_(*explainer),
      desk_(*desk),
      recording_(*recording),
      use_(*use),
      longest_nap_ns_(processes->is_dropping() ? kLongestDroppingNapNs : kLongestNapNs) {}

void Watch::admit() {
  while (std::optional<Caller> caller = server_.accept_caller()) {
    if (caller->snapshot) {
      snapshots_.take(*caller, &server_, &processes_);
    } else if (caller->top) {
      desk_.admit(std::move(*caller), &server_, &processes_);
    } else if (caller->order) {
      recording_.obey(*caller, &processes_);
    } else {
      processes_.admit(std::move(*caller));
    }
  }
}

void Watch::round() {
  const uint64_t now_ns = monotonic_ns();
  if (now_ns >= next_news_ns_) has_news_ = true;
  if (has_news_) next_news_ns_ = now_ns + kNewsIntervalNs;
  if (has_news_) {
    admit();
    desk_.serve(&processes_);
  }
  const std::vector<DeviceUseSample> samples = use_.take();
  set_nap(processes_.drain(RoundKind::kIfDue));
  recording_.tick(&processes_);
  explainer_.serve(&server_, &processes_);
  pass_on_device_use(samples, &processes_);
  const bool is_time = now_ns >= next_reap_ns_;
  if (is_time || has_ended_ones_) has_ended_ones_ = processes_.reap([this] { return server_.is_asked(); });
  if (is_time) {
    next_reap_ns_ = now_ns + kReapIntervalNs;
    snapshots_.tick(&server_, &processes_);
    ask_device_use(&use_, &processes_);
  }
  if (!has_ended_ones_ && !is_behind_ && !processes_.is_prepared() && !server_.is_asked()) processes_.prepare();
}

void Watch::set_nap(uint64_t due_ns) {
  const uint64_t now_ns = monotonic_ns();
  const uint64_t wanted_ns = due_ns <= now_ns ? 0 : due_ns - now_ns;
  is_behind_ = wanted_ns < kShortestNapNs;
  nap_ns_ = std::min(wanted_ns, longest_nap_ns_);
}

// Sleeps until an agent asks, the program ends, a signal comes, or nap_ns_ is over. It does not sleep while the program
// writes as fast as its records can be read: the program would have to wait for us.
void Watch::nap(int pidfd) {
  waiting_ = {{pidfd, POLLIN, 0}};
  signals_.add_waiting(&waiting_);
  server_.add_waiting(&waiting_);
  desk_.add_waiting(&waiting_);
  const timespec timeout{0, is_behind_ || has_ended_ones_ ? 0 : static_cast<long>(nap_ns_)};
  has_news_ = ppoll(waiting_.data(), waiting_.size(), &timeout, nullptr) != 0;
}

// Whether threads of the program are stopped just now: waiting for the program would consume the report of it.
bool Watch::is_root_judged() const {
  bool is_judged = false;
  processes_.for_each([&](pid_t pid, ProcessCollector& collector) {
    if (pid == root_pid_) is_judged = is_judged || collector.is_judged();
  });
  return is_judged;
}

// Other processes of the run that go on would wait for us: they wait a moment, and then lose events, which are counted.
void Watch::stop_with_root(int number) {
  processes_.for_each([](pid_t, ProcessCollector& collector) { collector.set_stall_timeout(kStoppedStallMs); });
  signals_.stop_with(root_pid_, number);
  processes_.for_each([](pid_t, ProcessCollector& collector) { collector.set_stall_timeout({}); });
}

// We are the program's parent: the signal that it asks for at its parent's death has to come with our parent's death.
// The signal that we get ourselves then is forwarded.
void Watch::follow_parent(const Inherited& inherited) {
  if (has_parent_ended_ || !inherited.has_parent_ended()) return;
  has_parent_ended_ = true;
  int number = 0;
  processes_.for_each([&](pid_t pid, ProcessCollector& collector) {
    if (pid == root_pid_) number = collector.death_signal();
  });
  if (number != 0 && number != inherited.death_signal()) kill(root_pid_, number);
}

WatchResult Watch::until_end(const Launched& launched, const Inherited& inherited) {
  root_pid_ = launched.pid;
  before_root_ns_ = launched.before_ns;
  for (;;) {
    round();
    if (has_news_) {
      signals_.follow_terminal(launched.pid);
      follow_parent(inherited);
    }
    if (has_news_ || signals_.is_holding() || !launched.pidfd.is_open()) {
      int status = 0;
      const pid_t changed = is_root_judged() ? 0 : waitpid(launched.pid, &status, WNOHANG | WUNTRACED);
      if (changed == launched.pid && WIFSTOPPED(status)) {
        stop_with_root(WSTOPSIG(status));
        continue;
      }
      if (changed == launched.pid) {
        take_terminal_back(launched.pid);
        return {decode_status(status), 0};
      }
      if (changed < 0 && errno == ECHILD) return {{EndKind::kUnknown, 0}, 0};
      if (const int number = signals_.handle(launched.pid)) return {{EndKind::kDetached, 0}, number};
    }
    nap(launched.pidfd.get());
  }
}

WatchResult Watch::until_left(const AttachedProgram& program, AttachTask* task) {
  root_pid_ = program.process.pid;
  before_root_ns_ = monotonic_ns();
  uint64_t attached_ns = 0;  // 0: not yet
  bool has_to_leave = false;
  bool is_leaving = false;
  for (;;) {
    round();
    if (has_ended(program.process)) {
      task->end();
      const RunEnd left{EndKind::kDetached, 0};  // the hooks may have been disabled by then
      return {is_leaving ? left : end_of(program.process), 0};
    }
    const bool is_told_to_leave = has_news_ && signals_.handle(0) != 0;
    const wire::StopReason stop = processes_.root_stop();
    // another command detached it
    if (!is_leaving && stop == wire::StopReason::kLeft) return {{EndKind::kDetached, 0}, 0};
    if (task->is_done() && (is_leaving || !task->result())) return {{EndKind::kDetached, 0}, 0};
    if (task->is_done() && attached_ns == 0) attached_ns = monotonic_ns();
    const bool is_over = program.for_ns != 0 && attached_ns != 0 && monotonic_ns() - attached_ns >= program.for_ns;
    has_to_leave = has_to_leave || is_told_to_leave || is_over || stop != wire::StopReason::kNone;
    if (has_to_leave && attached_ns == 0) task->give_up();  // it is done when it has failed, or has attached
    if (has_to_leave && attached_ns != 0 && !is_leaving) {
      is_leaving = true;
      task->detach(program.process.pid, program.agent);
    }
    nap(program.process.pidfd.get());
  }
}

// The pids of the program and of all others of the run, which began after it.
std::optional<PidSpan> Watch::run_pids() const {
  std::optional<PidSpan> span = pids_since(root_pid_, monotonic_ns() - before_root_ns_);
  if (span) --span->first;
  return span;
}

std::vector<pid_t> Watch::never_seen(const std::string& socket_path) const {
  std::vector<pid_t> pids = processes_with(wire::kSocketVariable, socket_path, run_pids());
  std::erase_if(pids, [this](pid_t pid) { return processes_.is_known(pid); });
  return pids;
}

// Whether a process of this run may still ask: a daemon that has allocated nothing has not asked yet. With is_waiting,
// a process that is waited for may also go on as a program that asks.
bool Watch::may_others_come(const std::string& socket_path, bool is_waiting) {
  const uint64_t now_ns = monotonic_ns();
  if (now_ns - searched_ns_ < (is_waiting ? kSearchIntervalNs : kShortSearchIntervalNs)) return true;
  searched_ns_ = now_ns;
  return !(is_waiting ? processes_with(wire::kSocketVariable, socket_path, run_pids()) : never_seen(socket_path))
              .empty();
}

void Watch::others(const std::optional<std::chrono::seconds>& wait, const std::string& socket_path) {
  const uint64_t start_ns = monotonic_ns();
  const uint64_t wait_ns =
      wait && wait->count() > 0 ? static_cast<uint64_t>(wait->count()) * 1'000'000'000 : UINT64_MAX;
  uint64_t most_ns = wait ? wait_ns : kGraceNs;
  bool is_told_to_leave = false;
  for (;;) {
    round();
    has_ended_ones_ = processes_.reap([this] { return server_.is_asked(); });
    if (processes_.running() == 0 && (is_told_to_leave || !may_others_come(socket_path, wait.has_value()))) return;
    const uint64_t passed_ns = monotonic_ns() - start_ns;
    if (passed_ns >= most_ns) return;
    if (has_news_ && !is_told_to_leave && signals_.handle(0) != 0) {
      // A terminal's Ctrl-C reached the other processes too.
      is_told_to_leave = true;
      most_ns = std::min(most_ns, passed_ns + kGraceNs);
    }
    nap(-1);
  }
}

}  // namespace heapprof::cli
