// cli/run/watch.cc: one loop handles everything in turn: agents, rings, ended processes, snapshots, signals.
//
// There is one thread for two reasons: the kernel reports the collector's death to agents when this thread dies
// (liveness.h), and one thread needs no locks. So nothing in the loop may wait: sockets and pidfds are only polled, and
// slow work (a snapshot) is done in a forked copy.
//
// The loop decides one thing: how long to sleep between two rounds. While the collector is awake, it slows the program
// down; if it sleeps too long, rings run full. So it sleeps until the fullest ring is about a quarter full (pace.h). An
// agent that asks, a signal, and the program's end wake it up. It checks for them only if it was woken up, or every
// kNewsIntervalNs, because checking in each round was a third of the loop's cost
// (tests/bench/runs/2026-11-23-rounds.md).
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

// Sleeps between two drain passes. A sleep below the shortest costs more than it saves. If an idle program begins to
// write as fast as it can, its ring may be full before the longest sleep is over, and the program waits for the rest: a
// ring of 1 MiB holds 1 ms of the densest events, and 10 ms of a compiler's events. If full rings drop events, the
// longest sleep is shorter, so that no event is lost because of it.
constexpr uint64_t kShortestSleepNs = 100'000;
constexpr uint64_t kLongestSleepNs = 2'000'000;
constexpr uint64_t kLongestDroppingSleepNs = 1'000'000;
constexpr uint64_t kNewsIntervalNs = 10'000'000;  // for changes that no descriptor reports
constexpr uint64_t kReapIntervalNs = 10'000'000;
// How long we wait after the program's end, so that processes that end with it are not cut off (helpers that notice a
// closed pipe, the rest of a pipeline).
constexpr uint64_t kGraceNs = 200'000'000;
constexpr uint32_t kStoppedStallMs = 20;
constexpr uint64_t kSearchIntervalNs = 100'000'000;      // between two searches for processes that have not asked yet
constexpr uint64_t kShortSearchIntervalNs = 20'000'000;  // the same if the whole wait is kGraceNs

RunEnd decode_status(int status) {
  if (WIFSIGNALED(status)) return {EndKind::kSignaled, WTERMSIG(status)};
  return {EndKind::kExited, WEXITSTATUS(status)};
}

}  // namespace

Watch::Watch(Server* server, SignalWatch* signals, Processes* processes, SnapshotTaker* snapshots, Explainer* explainer,
             TopService* top_service, RecordingSwitch* recording, DeviceUseWatch* use)
    : server_(*server),
      signals_(*signals),
      processes_(*processes),
      snapshots_(*snapshots),
      explainer_(*explainer),
      top_service_(*top_service),
      recording_(*recording),
      use_(*use),
      longest_sleep_ns_(processes->is_dropping() ? kLongestDroppingSleepNs : kLongestSleepNs) {}

void Watch::admit() {
  while (std::optional<Caller> caller = server_.accept_caller()) {
    if (caller->snapshot) {
      snapshots_.take(*caller, &server_, &processes_);
    } else if (caller->top) {
      top_service_.admit(std::move(*caller), &server_, &processes_);
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
    top_service_.serve(&processes_);
  }
  const std::vector<DeviceUseSample> samples = use_.take();
  set_sleep(processes_.drain(RoundKind::kIfDue));
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

void Watch::set_sleep(uint64_t due_ns) {
  const uint64_t now_ns = monotonic_ns();
  const uint64_t wanted_ns = due_ns <= now_ns ? 0 : due_ns - now_ns;
  is_behind_ = wanted_ns < kShortestSleepNs;
  sleep_ns_ = std::min(wanted_ns, longest_sleep_ns_);
}

// Sleeps until an agent asks, the program ends, a signal comes, or sleep_ns_ is over. Does not sleep if the program
// writes events as fast as they can be read, because the program would have to wait for us.
void Watch::sleep(int pidfd) {
  waiting_ = {{pidfd, POLLIN, 0}};
  signals_.add_waiting(&waiting_);
  server_.add_waiting(&waiting_);
  top_service_.add_waiting(&waiting_);
  const timespec timeout{0, is_behind_ || has_ended_ones_ ? 0 : static_cast<long>(sleep_ns_)};
  has_news_ = ppoll(waiting_.data(), waiting_.size(), &timeout, nullptr) != 0;
}

// Whether the leak check has stopped threads of the program just now. Then waitpid() must not be called here, because
// it would take the report of that stop.
bool Watch::is_root_judged() const {
  bool is_judged = false;
  processes_.for_each([&](pid_t pid, ProcessCollector& collector) {
    if (pid == root_pid_) is_judged = is_judged || collector.is_judged();
  });
  return is_judged;
}

// While we are stopped, other processes of the run would wait for us if their rings are full. So they wait only
// kStoppedStallMs, and then drop events, which are counted.
void Watch::stop_with_root(int number) {
  processes_.for_each([](pid_t, ProcessCollector& collector) { collector.set_stall_timeout(kStoppedStallMs); });
  signals_.stop_with(root_pid_, number);
  processes_.for_each([](pid_t, ProcessCollector& collector) { collector.set_stall_timeout({}); });
}

// Without heapprof, our parent would be the program's parent. So if our parent ends, we send the program the signal
// that it has requested for its parent's death (PR_SET_PDEATHSIG). If we get that signal ourselves, it is forwarded
// anyway.
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
    sleep(launched.pidfd.get());
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
      const RunEnd left{EndKind::kDetached, 0};  // the hooks may have been disabled before its end
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
    if (has_to_leave && attached_ns == 0) task->give_up();  // the task is done when it has failed or has attached
    if (has_to_leave && attached_ns != 0 && !is_leaving) {
      is_leaving = true;
      task->detach(program.process.pid, program.agent);
    }
    sleep(program.process.pidfd.get());
  }
}

// The pids that the program and all other processes of the run may have, as these began after the program.
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

// Whether a process of this run may still ask for an arena, for example a daemon that has allocated nothing yet. With
// is_waiting, this is true while any process of the run lives, because it may exec a program that asks.
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
      // A Ctrl-C at the terminal has reached the other processes, too, so they get a moment to end.
      is_told_to_leave = true;
      most_ns = std::min(most_ns, passed_ns + kGraceNs);
    }
    sleep(-1);
  }
}

}  // namespace heapprof::cli
