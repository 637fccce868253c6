// cli/run/run.cc: `heapprof run`: starts the program, collects events until it ends, writes the profile, prints a
// summary.
#include "cli/arch/arch.h"
#include "cli/base/clock.h"
#include "cli/base/end_signal.h"
#include "cli/base/file_name.h"
#include "cli/base/problems.h"
#include "cli/base/trusted_output.h"
#include "cli/collect/arena.h"
#include "cli/run/finisher.h"
#include "cli/run/init.h"
#include "cli/run/nvtx_obstacle.h"
#include "cli/run/plan.h"
#include "cli/run/processes.h"
#include "cli/run/profile_path.h"
#include "cli/run/profile_writing.h"
#include "cli/run/recording_switch.h"
#include "cli/run/session.h"
#include "cli/run/signals.h"
#include "cli/run/snapshot_taker.h"
#include "cli/run/watch.h"
#include "cli/target/agent_files.h"
#include "cli/target/agent_link.h"
#include "cli/target/elf_check.h"
#include "cli/target/launch.h"
#include "cli/target/process_facts.h"
#include "cli/target/process_identity.h"
#include "cli/target/process_names.h"
#include "cli/target/server.h"
#include "shared/env.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <optional>

namespace heapprof::cli {

FinishOptions finish_options(const RunOptions& options) {
  FinishOptions finish;
  finish.all_sites = options.all_sites;
  if (!options.no_cache) finish.names_folder = NameStore::user_folder();
  if (options.max_memory_bytes != 0) {
    finish.most_waiting_bytes = std::min(finish.most_waiting_bytes, options.max_memory_bytes / 4);
    finish.names_bytes = options.max_memory_bytes;
  }
  return finish;
}

NameFacts RunSession::root_facts(pid_t pid) const {
  return {static_cast<uint64_t>(pid), base_name(options_.program[named_]), rank_text(process_job(getpid())), unix_ns()};
}

std::string RunSession::name_pattern(uint64_t pid) const {
  if (!options_.output.empty()) return options_.output;
  std::string pattern;
  for (const char c : default_profile_path(options_.program[named_], pid))
    pattern += c == '%' ? "%%" : std::string(1, c);
  return pattern;
}

Result<LaunchOptions> RunSession::prepare_launch(const ProgramFacts& facts, const AgentFiles& agent,
                                                 const Server& server, const SignalWatch& signals) {
  LaunchOptions launch_options;
  launch_options.command = options_.program;
  launch_options.file = facts.path;
  launch_options.preload = {agent.agent};
  if (options_.verify_stacks || options_.unwinder == UnwinderChoice::kLibunwind) {
    if (agent.reference.empty())
      return reference_unwinder_missing(options_.verify_stacks ? "--verify-stacks" : "--unwinder");
    launch_options.preload.push_back(agent.reference);
  }
  launch_options.socket_variable = invitation(server);
  if (options_.live) {
    launch_options.input = UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!launch_options.input.is_open())
      return launch_failed(options_.program[named_], "/dev/null: " + errno_text(errno));
  }
  if (const std::string& file = options_.child_output; !file.empty()) {
    Result<UniqueFd> opened = open_output(file, O_WRONLY | O_TRUNC, 0666);
    if (!opened) return opened.problem();
    if (!opened->is_open()) return output_not_writable(file, errno_text(errno));
    launch_options.output = std::move(*opened);
  }
  if (!options_.no_nvtx) {
    if (const std::optional<Problem> warning = find_nvtx_obstacle()) warn(*warning);
  }
  launch_options.own_pid = inherited_.pid();
  launch_options.in_child = [this, &signals, self = getpid()] {
    signals.enter_program();
    inherited_.enter_program(self);
  };
  return launch_options;
}

std::string RunSession::invitation(const Server& server) const {
  const std::string filters = own_filter_count() != 0 ? std::to_string(own_filter_count()) : "";
  return (options_.no_follow ? wire::kNoFollow : wire::kFollow) + filters + server.path();
}

Checkpoints& RunSession::begin_checkpoints() {
  const uint64_t interval_ns = options_.snapshot_interval_ns == kMarksOnly ? 0 : options_.snapshot_interval_ns;
  return checkpoints_.emplace(finish_options(options_), interval_ns, options_.max_memory_bytes, may_overwrite_,
                              [this](const ImageName& image) { return names_->next(image); });
}

// A path like the one that the profile will get, for checks before the program's pid is known.
std::string RunSession::trial_path() const { return expand_name(name_pattern(0), root_facts(getpid())); }

// Refuses outputs that would overwrite the program.
Result<Done> RunSession::spare_programs(const std::vector<std::string>& programs) const {
  for (const std::string& file : {trial_path(), options_.html, options_.child_output}) {
    for (const std::string& program : programs) {
      if (name_one_file(file, program)) return output_not_writable(file, "it is the program");
    }
  }
  return Done{};
}

// Checks what can fail before anything is started.
Result<Done> RunSession::prepare() {
  Result<ReportRules> rules = load_rules(options_.suppressions);
  if (!rules) return rules.problem();
  rules_ = std::move(*rules);
  may_overwrite_ = !options_.output.empty();
  for (const std::string& file : {trial_path(), options_.html}) {
    if (file.empty()) continue;
    for (const std::string& rule_file : options_.suppressions.files) {
      if (name_one_file(file, rule_file)) return output_not_writable(file, "its rules are read (--suppressions)");
    }
    if (const Result<Done> tried = try_output(file); !tried) return tried.problem();
  }
  return Done{};
}

Result<int> RunSession::run() {
  const Result<ProgramFacts> facts = inspect_program(options_.program);
  if (!facts) return facts.problem();
  named_ = facts->program;
  for (const Problem& warning : facts->warnings) warn(warning);
  if (options_.no_inner_allocators && !facts->own_allocation_functions.empty())
    warn(program_defines_malloc(options_.program[named_],
                                fmt::format("{}", fmt::join(facts->own_allocation_functions, ", "))));
  own_malloc_ = !facts->own_allocation_functions.empty();
  if (const Result<Done> spared = spare_programs({facts->path, facts->elf_path}); !spared) return spared.problem();
  if (const Result<Done> prepared = prepare(); !prepared) return prepared.problem();
  if (const Result<Done> opened = served_.open(options_); !opened) return opened.problem();

  Result<Server> server = Server::open();
  if (!server) return server.problem();
  SignalWatch signals;
  if (signals.error() != 0) return launch_failed(options_.program[named_], errno_text(signals.error()));
  // Tried now, because the agent asks for its arena only when the program already runs: an error then would come after
  // side effects of the program.
  if (const Result<Done> tried = Arena::try_file(); !tried) return tried.problem();
  const auto page_bytes = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  if (page_bytes != wire::kPageBytes) return kernel_has_other_pages(page_bytes);
  Result<AgentFiles> agent = find_agent_files();
  if (!agent) return agent.problem();
  AgentLink link;
  if (const Result<Done> led = link.lead(&*agent); !led) return led.problem();
  Result<LaunchOptions> launch_options = prepare_launch(*facts, *agent, *server, signals);
  if (!launch_options) return launch_options.problem();

  Result<Launched> launched = launch(*launch_options);
  if (!launched) return launched.problem();
  launch_options->input.reset();
  launch_options->output.reset();
  if (!options_.goes_on) {
    const std::string output =
        expand_name(name_pattern(static_cast<uint64_t>(launched->pid)), root_facts(launched->pid));
    inherited_.drop_descriptors({output, options_.html}, options_.live);
  }
  ProcessPlan plan = make_plan(options_);  // queries the machine while the loader maps the program
  plan.root_pid = launched->pid;
  names_.emplace(name_pattern(static_cast<uint64_t>(launched->pid)), root_facts(launched->pid), is_hidden());
  tree_.emplace(launched->pid);
  Processes processes(std::move(plan), &*tree_, [this](EndedImage image) { take(std::move(image)); });
  SnapshotTaker snapshots(finish_options(options_), launched->pid, &begin_checkpoints());
  DeviceUseWatch device_use(agent->nvml);
  Explainer explainer(finish_options(options_));
  top_service_.set_root(launched->pid);
  if (options_.live) viewer_.start(launched->pid, options_, signals, &*server);
  served_.start(options_, signals, &*server);
  RecordingSwitch recording(options_.start);
  Watch watch(&*server, &signals, &processes, &snapshots, &explainer, &top_service_, &recording, &device_use);
  const WatchResult watched = watch.until_end(*launched, inherited_);
  root_end_ns_ = monotonic_ns();
  if (watched.detached_by == 0) {
    processes.end_root(watched.end);
    if (!options_.no_follow) watch.others(options_.wait, server->path());
  }
  viewer_.close();
  served_.close();
  show_progress();  // not earlier: while processes of the run live, they use the terminal
  say("counting what is left");
  device_use.stop();
  server->close();  // agents of processes that start later must not wait for us
  if (!options_.no_follow) never_seen_ = watch.never_seen(server->path());
  processes.reap([] { return false; });
  processes.detach_all(watched.end);
  if (link.is_made() && !processes_with(wire::kSocketVariable, server->path()).empty()) link.keep();
  signals.drop();
  return finish(watched, processes, server->turned_away());
}

// The program runs already. Another thread (AttachTask) makes it load the agent, while this thread answers the agent.
Result<int> RunSession::run_attached() {
  if (!kCanAttach) return attach_unsupported(kProgramKind);
  if (const Result<Done> prepared = prepare(); !prepared) return prepared.problem();
  const pid_t pid = options_.attach_pid;
  if (const Result<Done> spared = spare_programs({process_executable(pid)}); !spared) return spared.problem();
  Result<Server> server = Server::open();
  if (!server) return server.problem();
  SignalWatch signals;
  if (signals.error() != 0) return attach_failed(std::to_string(pid), errno_text(signals.error()));
  if (const Result<Done> tried = Arena::try_file(); !tried) return tried.problem();
  const Result<AgentFiles> agent = find_agent_files();
  if (!agent) return agent.problem();
  const ProcessLook look = look_at(pid);
  AttachedProgram program{{pid, UniqueFd(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))), look.start_ticks},
                          options_.attach_for_ns,
                          agent->agent};
  ProcessPlan plan = make_plan(options_);
  plan.root_pid = pid;
  names_.emplace(name_pattern(static_cast<uint64_t>(pid)), root_facts(pid), is_hidden());
  tree_.emplace(pid);
  Processes processes(std::move(plan), &*tree_, [this](EndedImage image) { take(std::move(image)); });
  SnapshotTaker snapshots(finish_options(options_), pid, &begin_checkpoints());
  DeviceUseWatch device_use(agent->nvml);
  Explainer explainer(finish_options(options_));
  top_service_.set_root(pid);
  RecordingSwitch recording(options_.start);
  Watch watch(&*server, &signals, &processes, &snapshots, &explainer, &top_service_, &recording, &device_use);
  AttachTask task;
  task.attach({pid, agent->agent, invitation(*server), !options_.no_follow});
  const WatchResult watched = watch.until_left(program, &task);
  root_end_ns_ = monotonic_ns();
  const bool has_result = task.is_done();
  if (!processes.has(pid) && !root_image_) {
    if (has_result && !task.result()) return task.result().problem();
    return attach_failed(std::to_string(pid), "it ended, or heapprof was asked to stop, before it was attached");
  }
  if (watched.end.kind == EndKind::kDetached && has_result && !task.result() && !has_ended(program.process) &&
      processes.root_stop() != wire::StopReason::kLeft)
    warn(detach_failed(std::to_string(pid), task.result().problem().what));
  show_progress();
  say("counting what is left");
  device_use.stop();
  server->close();
  processes.reap([] { return false; });
  if (watched.end.kind != EndKind::kDetached) processes.end_root(watched.end);
  processes.detach_all(watched.end);
  return finish(watched, processes, server->turned_away());
}

int run_command(const RunOptions& options) {
  const Inherited inherited;
  if (options.attach_pid == 0) {
    if (const std::optional<int> code = serve_as_init(inherited)) return *code;
  }
  return run_command(options, inherited);
}

int run_command(const RunOptions& options, const Inherited& inherited) {
  const bool is_attached = options.attach_pid != 0;
  int ended_by = 0;
  const Result<int> code = [&] {
    RunSession session(options, inherited);
    Result<int> result = is_attached ? session.run_attached() : session.run();
    ended_by = session.ended_by();
    return result;
  }();
  if (!code) {
    print_problem(code.problem(), options.color);
    return is_attached ? code.problem().exit_code : run_exit_code(code.problem());
  }
  if (!options.goes_on && (ended_by == SIGINT || ended_by == SIGQUIT)) end_by_signal(ended_by);
  return *code;
}

}  // namespace heapprof::cli
