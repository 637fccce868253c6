// cli/run/run.cc: `heapprof run`: start the program, collect until it ends, write, say what was found.
#include "cli/run/run.h"

#include "cli/base/clock.h"
#include "cli/base/file_name.h"
#include "cli/base/problems.h"
#include "cli/base/progress.h"
#include "cli/model/analysis/python/paths.h"
#include "cli/model/analysis/warnings.h"
#include "cli/run/device_limits.h"
#include "cli/run/finisher.h"
#include "cli/run/headline.h"
#include "cli/run/live_viewer.h"
#include "cli/run/names_advice.h"
#include "cli/run/nvtx_obstacle.h"
#include "cli/run/own_cost.h"
#include "cli/run/page_files.h"
#include "cli/run/plan.h"
#include "cli/run/process_tree_text.h"
#include "cli/run/processes.h"
#include "cli/run/profile_path.h"
#include "cli/run/profile_writing.h"
#include "cli/run/signals.h"
#include "cli/run/snapshot_taker.h"
#include "cli/run/summary.h"
#include "cli/run/summary_files.h"
#include "cli/run/top_desk.h"
#include "cli/run/watch.h"
#include "cli/target/agent_files.h"
#include "cli/target/elf_check.h"
#include "cli/target/launch.h"
#include "cli/target/process_facts.h"
#include "cli/target/process_names.h"
#include "cli/target/server.h"
#include "cli/write/text/run_text.h"
#include "shared/env.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <new>
#include <optional>
#include <set>

namespace heapprof::cli {

namespace {

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

// How a program ends that no agent was in: 127 is what the loader says of a library that is missing or damaged.
bool is_end_before_start(const RunEnd& end) {
  return end.kind == EndKind::kSignaled || (end.kind == EndKind::kExited && (end.status == 126 || end.status == 127));
}

int exit_code(const RunEnd& end) { return end.kind == EndKind::kSignaled ? 128 + end.status : end.status; }

// The exec hooks know what the process became, and why no agent is in it; the profile then says so itself.
bool is_said_by_agent(const Coverage& coverage) {
  const std::vector<UnprofiledProgram>& programs = coverage.unprofiled_programs;
  return std::any_of(programs.begin(), programs.end(), [](const auto& program) { return program.replaced_process; });
}

class Run {
 public:
  explicit Run(const RunOptions& options)
      : options_(options), finisher_(finish_options(options)), desk_(finish_options(options), &rules_.folds) {}

  // The exit code, or what kept the program from being started.
  Result<int> run();

 private:
  Result<LaunchOptions> prepare_launch(const ProgramFacts& facts, const AgentFiles& agent, const Server& server,
                                       const SignalWatch& signals);
  NameFacts root_facts(pid_t pid) const;
  std::string name_pattern(uint64_t pid) const;
  void take(EndedImage image);
  void submit(EndedImage image);
  std::optional<Finished> finish_root(const Processes& processes, const RunEnd& end, std::vector<SavedProfile>* others,
                                      std::vector<Problem>* problems);
  void prepare_summary(Profile* profile);
  void show(Finished* root, const std::vector<SavedProfile>& others, const std::vector<SavedProfile>& images);
  void save_page(const Profile& profile, const std::string& file);
  void warn_of_unused_limits(const std::vector<SavedProfile>& images);
  int finish(const WatchResult& watched, const Processes& processes, uint64_t turned_away);
  void warn(const Problem& problem) {
    if (progress_) progress_->clear();
    if (!options_.quiet || problem.exit_code != 0) print_problem(problem, options_.color);
  }
  void say(const std::string& work) {
    if (progress_) progress_->say(work);
  }
  void show_progress();
  void end_progress() {
    finisher_.show_progress(nullptr);
    progress_.reset();
  }

  const RunOptions& options_;
  ReportRules rules_;                 // of the summary
  std::optional<Progress> progress_;  // from the program's end to the summary; none with --quiet
  Finisher finisher_;
  std::string page_;  // its file, once it is written
  TopDesk desk_;
  LiveViewer viewer_;                  // of --live
  std::optional<ProcessTree> tree_;    // from the start on
  std::optional<ProfileNames> names_;  // "
  bool may_overwrite_ = false;
  bool own_malloc_ = false;               // in the program's executable
  std::vector<pid_t> never_seen_;         // processes of the run that live and never asked
  bool did_not_start_ = false;            // nothing was profiled, and that was not our failure
  std::optional<SummaryParts> parts_;     // of the root's profile
  bool is_prepared_ = false;              // that is: marked, with its parts if there is to be a summary
  std::optional<EndedImage> root_image_;  // the latest: the next one shows whether it was the last
};

NameFacts Run::root_facts(pid_t pid) const {
  return {static_cast<uint64_t>(pid), base_name(options_.program[0]), rank_text(process_job(getpid())), unix_ns()};
}

std::string Run::name_pattern(uint64_t pid) const {
  if (!options_.output.empty()) return options_.output;
  std::string pattern;
  for (const char c : default_profile_path(options_.program[0], pid)) pattern += c == '%' ? "%%" : std::string(1, c);
  return pattern;
}

Result<LaunchOptions> Run::prepare_launch(const ProgramFacts& facts, const AgentFiles& agent, const Server& server,
                                          const SignalWatch& signals) {
  LaunchOptions launch_options;
  launch_options.command = options_.program;
  launch_options.file = facts.path;
  launch_options.preload = {agent.agent};
  if (options_.verify_stacks || options_.unwinder == UnwinderChoice::kLibunwind) {
    if (agent.reference.empty())
      return reference_unwinder_missing(options_.verify_stacks ? "--verify-stacks" : "--unwinder");
    launch_options.preload.push_back(agent.reference);
  }
  const std::string filters = own_filter_count() != 0 ? std::to_string(own_filter_count()) : "";
  launch_options.socket_variable = (options_.no_follow ? wire::kNoFollow : wire::kFollow) + filters + server.path();
  if (options_.live) launch_options.input = UniqueFd(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (const std::string& file = options_.child_output; !file.empty()) {
    launch_options.output = UniqueFd(open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
    if (!launch_options.output.is_open()) return output_not_writable(file, errno_text(errno));
  }
  if (!options_.no_nvtx) {
    if (const std::optional<Problem> warning = find_nvtx_obstacle()) warn(*warning);
  }
  launch_options.signal_mask = signals.previous_mask();
  launch_options.signal_actions = signals.previous_actions();
  return launch_options;
}

void Run::submit(EndedImage image) {
  const RunInfo& run = image.recording.run;
  const ImageName name = {
      image.is_root, image.is_last, run.image, {run.pid, image.program, rank_text(run.job), run.start_unix_ns}};
  const std::string path = names_->next(name);
  finisher_.submit({std::move(image.recording), path, may_overwrite_, image.entry});
}

// The root's last image is FILE; which one that is shows when the next one comes, or none.
void Run::take(EndedImage image) {
  desk_.note_end(image);
  const bool is_last_of_root = image.is_root && image.is_last;
  if (image.recording.run.counters.allocations == 0 && !is_last_of_root) return;
  tree_->set_fate(image.entry, Fate::kProfiled);
  if (!image.is_root) {
    submit(std::move(image));
    return;
  }
  if (root_image_) submit(std::move(*root_image_));
  root_image_ = std::move(image);
}

// The others are waited for before its profile is written: it names them.
std::optional<Finished> Run::finish_root(const Processes& processes, const RunEnd& end,
                                         std::vector<SavedProfile>* others, std::vector<Problem>* problems) {
  if (processes.root_problem()) problems->push_back(*processes.root_problem());
  if (!root_image_) {
    if (processes.wrong_version() > 0) {
      problems->push_back(protocol_mismatch({0, wire::kProtocolVersion}));
    } else if (problems->empty()) {
      did_not_start_ = is_end_before_start(end);
      problems->push_back(did_not_start_ ? program_did_not_start(options_.program[0], end_text(end))
                                         : nothing_profiled(options_.program[0]));
    }
    return std::nullopt;
  }
  if (!root_image_->is_last && !is_said_by_agent(root_image_->recording.run.coverage))
    warn(root_image_replaced(root_image_->program, processes.root_became()));
  measure_own_cost(&root_image_->recording.run.cost);
  Result<Finished> finished = finisher_.finish(
      {std::move(root_image_->recording), names_->root_path(), may_overwrite_, ProcessTree::kRoot},
      [&](Profile* profile) {
        *others = finisher_.collect_saved(problems);
        try {
          keep_processes(*others, names_->root_path(), &profile->run);
        } catch (const std::bad_alloc&) {
          profile->run.processes.clear();
        }
      },
      [this](Profile* profile) {
        try {
          // Rows of imports are added to a Python program's stacks, which nobody may read meanwhile.
          if (!options_.quiet && !has_python(*profile)) prepare_summary(profile);
        } catch (const std::bad_alloc&) {  // show() tries again when the profile is written
        }
      });
  if (finished) return std::move(*finished);
  problems->push_back(finished.problem());
  return std::nullopt;
}

void Run::prepare_summary(Profile* profile) {
  mark_suppressed(rules_.suppressions, profile);
  PlaceTree tree;
  mark_folded(rules_.folds, profile, &tree);
  if (!options_.no_summary) parts_.emplace(*profile, std::move(tree));
  is_prepared_ = true;
}

void Run::save_page(const Profile& profile, const std::string& file) {
  if (options_.html.empty()) return;
  say("writing the page");
  const Result<std::string> saved = save_report_page(
      {&profile, file, find_warnings(profile, names_adviser(file)), options_.suppressions.all_frames}, options_.html);
  if (saved) page_ = *saved;
  if (!saved) warn(saved.problem());
}

// The profile is written: what fails from here on is no failure of the run.
void Run::show(Finished* root, const std::vector<SavedProfile>& others, const std::vector<SavedProfile>& images) {
  try {
    const Headline headline = choose_headline(root->saved, others);
    std::optional<Profile> shown;
    say("writing the summary");
    if (!options_.no_summary || !options_.html.empty()) {
      Result<std::optional<Profile>> other = read_other(headline);
      if (other) shown = std::move(*other);
      if (!other) warn(other.problem());
    }
    if (!is_prepared_) prepare_summary(root->profile.get());
    if (shown) {
      mark_suppressed(rules_.suppressions, &*shown);
      mark_folded(rules_.folds, &*shown);
    }
    SummaryInput input{*root->profile, root->saved.path, root->saved.size_bytes, images, &*tree_, &headline};
    input.shown = shown ? &*shown : nullptr;
    input.saved = &root->saved;
    input.parts = parts_ && !shown ? &*parts_ : nullptr;
    const std::string text = options_.quiet ? "" : summary_text(input, options_);
    save_page(shown ? *shown : *root->profile, shown_file(input));
    end_progress();
    std::fwrite(text.data(), 1, text.size(), stderr);
    if (!page_.empty() && !options_.quiet) print_saved_page(page_, options_.color);
  } catch (const std::bad_alloc&) {
    const std::string path = root->saved.path;
    parts_.reset();
    root->profile.reset();
    end_progress();
    warn(summary_left_out(path));
  }
}

int Run::finish(const WatchResult& watched, const Processes& processes, uint64_t turned_away) {
  std::vector<Problem> problems;
  std::vector<SavedProfile> saved;  // all but the root's last image
  std::optional<Finished> root = finish_root(processes, watched.end, &saved, &problems);
  // What the program says of itself counts for more than what we could not see, unless it says that all is well.
  if (root && own_malloc_ && root->profile->run.counters.allocations == 0 && exit_code(watched.end) == 0) {
    problems.push_back(program_hides_allocations(options_.program[0]));
  }
  desk_.end_run(root ? &*root : nullptr);
  for (SavedProfile& late : finisher_.collect_saved(&problems)) saved.push_back(std::move(late));  // without a root
  std::vector<SavedProfile> images;
  const auto enter = [this](const SavedProfile& one) {
    tree_->set_profile(one.entry,
                       {one.peak_bytes, one.path, one.command, one.devices, one.refused, one.resident_bytes});
  };
  for (const SavedProfile& one : saved) {
    if (one.entry == ProcessTree::kRoot) images.push_back(one);
    enter(one);
  }
  if (root) {
    enter(root->saved);
    if (!options_.quiet || !options_.html.empty()) show(&*root, saved, images);
  }
  end_progress();
  warn_of_unused_limits(images);
  for (const auto& [reason, count] : processes.refusals()) warn(processes_refused(count, reason));
  if (!never_seen_.empty())
    warn(children_never_profiled(never_seen_.size(), process_names_text(never_seen_), options_.program[0]));
  if (turned_away != 0) warn(processes_refused(turned_away, errno_text(EMFILE)));
  for (const Problem& problem : problems) print_problem(problem, options_.color);
  if (watched.detached_by != 0) return 128 + watched.detached_by;
  const bool is_programs_own = problems.empty() || (did_not_start_ && problems.size() == 1);
  return is_programs_own ? exit_code(watched.end) : 125;
}

// A wrong number would make a test of a small card pass on a large one.
void Run::warn_of_unused_limits(const std::vector<SavedProfile>& images) {
  std::set<std::string> used;
  const auto add = [&used](const auto& devices) {
    for (const auto& device : devices) used.insert(device.device);
  };
  for (const TreeEntry& entry : tree_->entries()) add(entry.devices), add(entry.refused);
  for (const SavedProfile& image : images) add(image.devices), add(image.refused);
  const Result<DeviceLimits> limits = parse_limits(options_.limits);
  for (size_t i = 0; limits && i < limits->cuda.size(); ++i) {
    const std::string device = fmt::format("cuda:{}", i);
    if (limits->cuda[i] != 0 && used.count(device) == 0) warn(limit_of_unused_device(device));
  }
}

// Under a limit on memory no thread is started for it.
void Run::show_progress() {
  if (options_.quiet) return;
  progress_.emplace(options_.color, is_memory_limited() ? ProgressThread::kNone : ProgressThread::kOwn);
  finisher_.show_progress(&*progress_);
}

Result<int> Run::run() {
  Result<ReportRules> rules = load_rules(options_.suppressions);
  if (!rules) return rules.problem();
  rules_ = std::move(*rules);
  const Result<ProgramFacts> facts = inspect_program(options_.program[0]);
  if (!facts) return facts.problem();
  for (const Problem& warning : facts->warnings) warn(warning);
  own_malloc_ = !facts->own_allocation_functions.empty();
  may_overwrite_ = !options_.output.empty();
  const std::string trial = expand_name(name_pattern(0), root_facts(getpid()));
  for (const std::string& file : {trial, options_.html}) {
    if (file.empty()) continue;
    if (const Result<Done> tried = try_output(file); !tried) return tried.problem();
  }

  Result<Server> server = Server::open();
  if (!server) return server.problem();
  SignalWatch signals;
  const Result<AgentFiles> agent = find_agent_files();
  if (!agent) return agent.problem();
  Result<LaunchOptions> launch_options = prepare_launch(*facts, *agent, *server, signals);
  if (!launch_options) return launch_options.problem();

  Result<Launched> launched = launch(*launch_options);
  if (!launched) return launched.problem();
  ProcessPlan plan = make_plan(options_);  // asks for the machine's properties while the loader maps the program
  plan.root_pid = launched->pid;
  names_.emplace(name_pattern(static_cast<uint64_t>(launched->pid)), root_facts(launched->pid));
  tree_.emplace(launched->pid);
  Processes processes(std::move(plan), &*tree_, [this](EndedImage image) { take(std::move(image)); });
  SnapshotTaker snapshots(finish_options(options_), launched->pid);
  DeviceUseWatch device_use(agent->nvml);
  Explainer explainer(finish_options(options_));
  desk_.set_root(launched->pid);
  if (options_.live) viewer_.start(launched->pid, options_, signals, &*server);
  Watch watch(&*server, &signals, &processes, &snapshots, &explainer, &desk_, &device_use);
  const WatchResult watched = watch.until_end(*launched);
  if (watched.detached_by == 0) {
    processes.end_root(watched.end);
    if (!options_.no_follow) watch.others(options_.wait, server->path());
  }
  viewer_.close();
  show_progress();  // not before: as long as processes of the run live, the terminal is theirs
  say("counting what is left");
  device_use.stop();
  server->close();  // what runs on and starts more processes must not wait for us
  if (!options_.no_follow) never_seen_ = watch.never_seen(server->path());
  processes.reap([] { return false; });
  processes.detach_all(watched.end);
  return finish(watched, processes, server->turned_away());
}

}  // namespace

int run_command(const RunOptions& options) {
  const Result<int> code = Run(options).run();
  if (code) return *code;
  print_problem(code.problem(), options.color);
  return run_exit_code(code.problem());
}

}  // namespace heapprof::cli
