// cli/commands/run.cc: `heapprof run`: start the program, collect until it ends, write, say what was found.
#include "cli/commands/run.h"

#include "cli/base/atomic_file.h"
#include "cli/base/problems.h"
#include "cli/collect/clock.h"
#include "cli/commands/finisher.h"
#include "cli/commands/processes.h"
#include "cli/commands/profile_path.h"
#include "cli/commands/signals.h"
#include "cli/commands/summary.h"
#include "cli/target/agent_files.h"
#include "cli/target/elf_check.h"
#include "cli/target/launch.h"
#include "cli/target/machine.h"
#include "cli/target/process_facts.h"
#include "cli/target/server.h"
#include "shared/env.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>

namespace heapprof::cli {

namespace {

// Pauses between two looks at the rings. On cores that share their execution units a busy collector costs the program more
// than its hooks do; a ring of 1 MiB holds 10 ms of the densest events.
constexpr long kShortNapNs = 150'000;
constexpr long kLongNapNs = 1'000'000;
constexpr uint64_t kIdleRoundsBeforeLongNap = 200;
constexpr uint64_t kRoundsBetweenReaps = 64;

wire::ClockMode choose_clock(ClockChoice choice) {
  switch (choice) {
    case ClockChoice::kTsc: return wire::ClockMode::kTsc;
    case ClockChoice::kSequence: return wire::ClockMode::kSequence;
    case ClockChoice::kAuto: break;
  }
  return detect_clock_mode();
}

ProcessPlan make_plan(const RunOptions& options) {
  ProcessPlan plan;
  plan.collector.clock_mode = choose_clock(options.clock);
  switch (options.fence) {
    case FenceChoice::kAuto: break;
    case FenceChoice::kExpedited: plan.collector.fence_mode = wire::FenceMode::kMembarrierExpedited; break;
    case FenceChoice::kGlobal: plan.collector.fence_mode = wire::FenceMode::kMembarrierGlobal; break;
    case FenceChoice::kProducer: plan.collector.fence_mode = wire::FenceMode::kProducerFence; break;
  }
  plan.fence_forced = options.fence != FenceChoice::kAuto;
  plan.collector.full_policy = options.on_full == OnFull::kDrop ? wire::FullPolicy::kDrop : wire::FullPolicy::kWait;
  plan.collector.stall_timeout_ms = static_cast<uint32_t>(options.stall_timeout_s * 1000);
  plan.collector.unwinder = options.verify_stacks                            ? wire::UnwinderKind::kVerify
                            : options.unwinder == UnwinderChoice::kLibunwind ? wire::UnwinderKind::kLibunwind
                                                                             : wire::UnwinderKind::kHeapprof;
  plan.follow = !options.no_follow;
  plan.root_command = options.program;
  plan.machine = describe_machine();
  return plan;
}

RunEnd decode_status(int status) {
  if (WIFSIGNALED(status)) return {EndKind::kSignaled, WTERMSIG(status)};
  return {EndKind::kExited, WEXITSTATUS(status)};
}

int exit_code(const RunEnd& end) { return end.kind == EndKind::kSignaled ? 128 + end.status : end.status; }

// Sleeps until an agent asks, the program ends, a signal comes, or the nap is over.
void nap(const Server& server, const SignalWatch& signals, int pidfd, long nap_ns, std::vector<pollfd>* waiting) {
  *waiting = {{signals.fd(), POLLIN, 0}, {pidfd, POLLIN, 0}};
  server.add_waiting(waiting);
  const timespec timeout{0, nap_ns};
  ppoll(waiting->data(), waiting->size(), &timeout, nullptr);
}

struct WatchResult {
  RunEnd end;
  int detached_by = 0;  // the signal that told us to leave while the program runs on
};

// Collects until the program has ended (or we are told to leave).
WatchResult watch(Server& server, SignalWatch& signals, const Launched& launched, Processes& processes) {
  std::vector<pollfd> waiting;
  uint64_t idle_rounds = 0;
  for (uint64_t round = 0;; ++round) {
    while (std::optional<Caller> caller = server.accept_caller()) processes.admit(std::move(*caller));
    const size_t records = processes.drain();
    idle_rounds = records == 0 ? idle_rounds + 1 : 0;
    if (round % kRoundsBetweenReaps == 0) processes.reap();
    int status = 0;
    const pid_t ended = waitpid(launched.pid, &status, WNOHANG);
    if (ended == launched.pid) return {decode_status(status), 0};
    if (ended < 0 && errno == ECHILD) return {{EndKind::kUnknown, 0}, 0};
    if (const int number = signals.handle(launched.pid)) return {{EndKind::kDetached, 0}, number};
    nap(server, signals, launched.pidfd.get(), idle_rounds > kIdleRoundsBeforeLongNap ? kLongNapNs : kShortNapNs,
        &waiting);
  }
}

uint64_t timeval_ns(const timeval& value) {
  return static_cast<uint64_t>(value.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(value.tv_usec) * 1'000;
}

void measure_own_cost(Cost* cost) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  cost->collector_cpu_ns = timeval_ns(usage.ru_utime) + timeval_ns(usage.ru_stime);
  cost->collector_peak_rss_bytes = static_cast<uint64_t>(usage.ru_maxrss) * 1024;
}

// True if the file can be made: known before the program runs, not after hours.
Result<Done> try_output(const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) == 0 && !S_ISREG(facts.st_mode) && !S_ISDIR(facts.st_mode)) {
    // A pipe's reader would take the end of the trial for the end of the profile.
    if (access(path.c_str(), W_OK) != 0) return output_not_writable(path, errno_text(errno));
    return Done{};
  }
  const Result<AtomicFile> file = AtomicFile::create(path);
  if (!file) return file.problem();
  return Done{};
}

class Run {
 public:
  explicit Run(const RunOptions& options)
      : options_(options), finisher_({options.all_sites, !options.quiet, options.color}) {}

  // The exit code, or what kept the program from being started.
  Result<int> run();

 private:
  Result<LaunchOptions> prepare_launch(const ProgramFacts& facts, const Server& server, const SignalWatch& signals);
  void take(EndedImage image);
  int finish(const WatchResult& watched, const Processes& processes);
  void warn(const Problem& problem) const {
    if (!options_.quiet || problem.exit_code != 0) print_problem(problem, options_.color);
  }

  const RunOptions& options_;
  Finisher finisher_;
  std::string root_path_;
  bool may_overwrite_ = false;
  std::optional<EndedImage> last_root_image_;
};

Result<LaunchOptions> Run::prepare_launch(const ProgramFacts& facts, const Server& server, const SignalWatch& signals) {
  Result<AgentFiles> agent = find_agent_files();
  if (!agent) return agent.problem();
  LaunchOptions launch_options;
  launch_options.command = options_.program;
  launch_options.file = facts.path;
  launch_options.preload = {agent->agent};
  if (options_.verify_stacks || options_.unwinder == UnwinderChoice::kLibunwind) {
    if (agent->reference.empty())
      return reference_unwinder_missing(options_.verify_stacks ? "--verify-stacks" : "--unwinder");
    launch_options.preload.push_back(agent->reference);
  }
  const std::string filters = own_filter_count() != 0 ? std::to_string(own_filter_count()) : "";
  launch_options.socket_variable = (options_.no_follow ? wire::kNoFollow : wire::kFollow) + filters + server.path();
  launch_options.signal_mask = signals.previous_mask();
  launch_options.signal_actions = signals.previous_actions();
  return launch_options;
}

void Run::take(EndedImage image) {
  const RunInfo& run = image.recording.run;
  if (image.is_root && image.is_last) {
    last_root_image_ = std::move(image);
    return;
  }
  if (run.counters.allocations == 0) return;
  const std::string path = profile_path(root_path_, {image.is_root, image.is_last, run.pid, run.image});
  finisher_.submit({std::move(image.recording), path, may_overwrite_});
}

int Run::finish(const WatchResult& watched, const Processes& processes) {
  std::vector<Problem> problems = processes.problems();
  std::optional<Finished> root;
  if (last_root_image_) {
    measure_own_cost(&last_root_image_->recording.run.cost);
    Result<Finished> finished = finisher_.finish({std::move(last_root_image_->recording), root_path_, may_overwrite_});
    if (finished) {
      root = std::move(*finished);
    } else {
      problems.push_back(finished.problem());
    }
  } else if (processes.wrong_version() > 0) {
    problems.push_back(protocol_mismatch({0, wire::kProtocolVersion}));
  } else if (problems.empty()) {
    problems.push_back(nothing_profiled(options_.program[0]));
  }
  const std::vector<SavedProfile> children = finisher_.collect_saved(&problems);
  if (root && !options_.quiet) {
    print_summary({root->profile, root->saved.path, root->saved.size_bytes, children}, options_);
  }
  for (const Problem& problem : problems) print_problem(problem, options_.color);
  if (watched.detached_by != 0) return 128 + watched.detached_by;
  return problems.empty() ? exit_code(watched.end) : 125;
}

Result<int> Run::run() {
  const Result<ProgramFacts> facts = inspect_program(options_.program[0]);
  if (!facts) return facts.problem();
  for (const Problem& warning : facts->warnings) warn(warning);
  root_path_ = options_.output.empty() ? default_profile_path(options_.program[0], 0) : options_.output;
  may_overwrite_ = !options_.output.empty();
  if (const Result<Done> tried = try_output(root_path_); !tried) return tried.problem();

  Result<Server> server = Server::open();
  if (!server) return server.problem();
  SignalWatch signals;
  Result<LaunchOptions> launch_options = prepare_launch(*facts, *server, signals);
  if (!launch_options) return launch_options.problem();
  ProcessPlan plan = make_plan(options_);

  Result<Launched> launched = launch(*launch_options);
  if (!launched) return launched.problem();
  if (options_.output.empty())
    root_path_ = default_profile_path(options_.program[0], static_cast<uint64_t>(launched->pid));
  plan.root_pid = launched->pid;
  Processes processes(std::move(plan), [this](EndedImage image) { take(std::move(image)); });
  const WatchResult watched = watch(*server, signals, *launched, processes);
  server->close();  // what runs on and starts more processes must not wait for us
  if (watched.detached_by == 0) processes.end_root(watched.end);
  processes.reap();
  processes.detach_all(watched.end);
  return finish(watched, processes);
}

}  // namespace

int run_command(const RunOptions& options) {
  const Result<int> code = Run(options).run();
  if (code) return *code;
  print_problem(code.problem(), options.color);
  return run_exit_code(code.problem());
}

}  // namespace heapprof::cli
