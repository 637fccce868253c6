// cli/run/check.cc: run or read, measure, judge, say, keep.
#include "cli/run/check.h"

#include "cli/base/atomic_file.h"
#include "cli/base/fd.h"
#include "cli/base/output.h"
#include "cli/base/problems.h"
#include "cli/base/text.h"
#include "cli/model/budget_update.h"
#include "cli/model/history.h"
#include "cli/model/verdict.h"
#include "cli/model/warnings.h"
#include "cli/read/read_budget.h"
#include "cli/read/read_profile.h"
#include "cli/run/check_outputs.h"
#include "cli/run/check_plan.h"
#include "cli/run/commit.h"
#include "cli/run/run.h"
#include "cli/write/append_history.h"
#include "cli/write/check_report.h"
#include "cli/write/registry.h"
#include "cli/write/run_text.h"

#include <fmt/format.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>

namespace heapprof::cli {
namespace {

constexpr int kOver = 1;
constexpr int kNotDone = 2;
constexpr int kIncomplete = 3;
constexpr int kFailed = 4;
constexpr int kNotProfiled = 125;

// A folder that goes away with what is in it.
class ScratchFolder {
 public:
  static Result<ScratchFolder> make() {
    const char* base = getenv("TMPDIR");
    std::string path = std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/heapprof-check.XXXXXX";
    if (mkdtemp(path.data()) == nullptr) return output_not_writable(path, errno_text(errno));
    return ScratchFolder(path);
  }
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder() {
    std::error_code error;
    if (!path_.empty()) std::filesystem::remove_all(path_, error);
  }
  const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// One program's profiles: a file's, or those of its runs.
struct Recorded {
  std::vector<Profile> runs;
  std::vector<std::string> files;
  size_t others = 0;  // profiles of processes that it started
};

size_t count_files(const std::string& folder) {
  std::error_code error;
  size_t files = 0;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    ++files;
  return files;
}

Result<Done> copy_file(const std::string& from, const std::string& to) {
  std::FILE* const source = std::fopen(from.c_str(), "rbe");
  if (source == nullptr) return profile_not_readable(from, errno_text(errno));
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> closer(source, std::fclose);
  Result<AtomicFile> target = AtomicFile::create(to);
  if (!target) return target.problem();
  std::vector<char> buffer(64 << 10);
  while (const size_t got = std::fread(buffer.data(), 1, buffer.size(), source)) target->write({buffer.data(), got});
  if (std::ferror(source) != 0) return profile_not_readable(from, "the end of it is missing");
  const Result<std::string> written = target->commit();
  if (!written) return written.problem();
  return Done{};
}

// The run whose peak is nearest to the median: it is shown, and kept.
size_t representative(const std::vector<Profile>& runs) {
  std::vector<uint64_t> peaks;
  for (const Profile& run : runs) peaks.push_back(run.devices.empty() ? 0 : run.devices[0].totals.peak_bytes);
  const uint64_t middle = median(peaks);
  const auto distance = [&](uint64_t peak) { return std::max(peak, middle) - std::min(peak, middle); };
  const auto nearest =
      std::min_element(peaks.begin(), peaks.end(), [&](uint64_t a, uint64_t b) { return distance(a) < distance(b); });
  return static_cast<size_t>(nearest - peaks.begin());
}

class Checker {
 public:
  explicit Checker(const CheckOptions& options) : options_(options) {}
  Result<int> run();

 private:
  Result<Done> check_profiles(const CheckPlan& plan);
  Result<Done> check_programs(const CheckPlan& plan);
  Result<Done> check_baseline_is_there(const Budget& budget) const;
  Result<Recorded> record(const Budget& budget, const std::vector<std::string>& command, const std::string& folder);
  Result<Done> examine(const Budget& budget, Recorded* recorded, Verdict* verdict);
  Result<Done> judge_by(const Budget& budget, const Recorded& recorded, size_t shown, Verdict* verdict);
  Result<Done> keep(Verdict* verdict) const;
  Result<Done> update_baseline(const Budget& budget, const std::string& file, Verdict* verdict) const;
  Result<Done> update_budget(const BudgetFile& file);
  void say_trouble(const Verdict& verdict) const;
  void add(Verdict verdict);
  void say(const std::string& words) const {
    if (!options_.quiet) std::fwrite(words.data(), 1, words.size(), stderr);
  }
  void warn(const Problem& problem) const {
    if (!options_.quiet) print_problem(problem, options_.color);
  }

  const CheckOptions& options_;
  Suppressions suppressions_;
  CheckReport report_;
  std::vector<HistoryRecord> history_;
};

Result<Done> Checker::check_baseline_is_there(const Budget& budget) const {
  if (options_.update_baseline || budget.baseline.empty()) return Done{};
  const std::string path = baseline_path(budget);
  if (access(path.c_str(), F_OK) != 0) return baseline_missing(path);
  return Done{};
}

Result<Recorded> Checker::record(const Budget& budget, const std::vector<std::string>& command,
                                 const std::string& folder) {
  Recorded recorded;
  for (uint64_t run = 1; run <= budget.runs.value_or(1); ++run) {
    RunOptions options;
    options.quiet = true;
    options.color = options_.color;
    options.program = command;
    const std::string file = fmt::format("{}/run{}.json", folder, run);
    for (const char c : file) options.output += c == '%' ? "%%" : std::string(1, c);  // no directives
    const size_t files_before = count_files(folder);
    const int code = run_command(options);
    if (access(file.c_str(), F_OK) != 0) return checked_without_profile(command[0]);
    Result<Profile> profile = read_profile(file);
    if (!profile) return profile.problem();
    recorded.others = std::max(recorded.others, count_files(folder) - files_before - 1);
    // What heapprof says of itself: it was not able to see the program.
    const RunEnd& end = profile->run.end;
    if (code == kNotProfiled && (end.kind != EndKind::kExited || end.status != kNotProfiled)) {
      profile->run.complete = false;
      profile->run.incomplete_reason = "heapprof could not profile it";
    }
    recorded.files.push_back(file);
    recorded.runs.push_back(std::move(*profile));
    if (find_run_state(recorded.runs.back()).trouble != Trouble::kNone) break;  // the others cannot mend it
  }
  return recorded;
}

// What is to be said of it, but for its file.
Result<Done> Checker::examine(const Budget& budget, Recorded* recorded, Verdict* verdict) {
  verdict->name = budget.name;
  verdict->message = budget.message;
  verdict->runs = recorded->runs.size();
  Suppressions rules = budget.ignores;
  rules.insert(rules.end(), suppressions_.begin(), suppressions_.end());
  for (Profile& run : recorded->runs) mark_suppressed(rules, &run);
  size_t shown = representative(recorded->runs);
  for (size_t i = 0; i < recorded->runs.size(); ++i) {
    verdict->state = find_run_state(recorded->runs[i]);
    if (verdict->state.trouble != Trouble::kNone) {
      shown = i;
      break;
    }
  }
  const Profile& profile = recorded->runs[shown];
  verdict->profile = recorded->files[shown];
  verdict->command = profile.run.command;
  verdict->duration_ns = profile.run.duration_ns;
  if (verdict->state.trouble != Trouble::kNone) return Done{};
  for (const Problem& warning : find_warnings(profile)) warn(warning);
  if (recorded->others > 0) warn(others_not_judged(recorded->others));
  return judge_by(budget, *recorded, shown, verdict);
}

Result<Done> Checker::judge_by(const Budget& budget, const Recorded& recorded, size_t shown, Verdict* verdict) {
  const Profile& profile = recorded.runs[shown];
  std::vector<Problem> warnings;
  const Result<Done> fits = check_budget(budget, profile, verdict->profile, &warnings);
  if (!fits) return fits.problem();
  for (const Problem& warning : warnings) warn(warning);
  std::optional<Profile> baseline;
  if (!budget.baseline.empty() && !options_.update_baseline) {
    verdict->baseline = baseline_path(budget);
    Result<Profile> read = read_profile(verdict->baseline);
    if (!read) return read.problem();
    if (const Result<Done> same = check_baseline(profile, *read, verdict->baseline); !same) return same.problem();
    baseline = std::move(*read);
    Suppressions rules = budget.ignores;
    rules.insert(rules.end(), suppressions_.begin(), suppressions_.end());
    mark_suppressed(rules, &*baseline);
  }
  Evidence evidence;
  evidence.subjects = find_subjects(budget, profile, baseline.has_value());
  for (const Profile& run : recorded.runs) evidence.runs.push_back(measure(budget, evidence.subjects, run));
  if (baseline) evidence.baseline = measure(budget, evidence.subjects, *baseline);
  if (options_.update_baseline) {
    if (const Result<Done> saved = update_baseline(budget, recorded.files[shown], verdict); !saved)
      return saved.problem();
  }
  verdict->judged = judge(budget, evidence);
  verdict->devices = measure_devices(recorded.runs);
  find_culprits(budget, profile, baseline ? &*baseline : nullptr, project_folder(), &verdict->judged);
  if (options_.history.empty()) return Done{};
  for (const Device& device : profile.devices) {
    history_.push_back(make_record(profile, device, budget.name, find_commit(options_.commit)));
    history_.back().ok = !verdict->failed();
  }
  return Done{};
}

// -o FILE always; else only what somebody will want to look at.
Result<Done> Checker::keep(Verdict* verdict) const {
  const std::string file = std::exchange(verdict->profile, "");
  const bool is_wanted = verdict->state.trouble != Trouble::kNone || verdict->failed();
  if (options_.output.empty() && !is_wanted) return Done{};
  const std::string target =
      !options_.output.empty() ? options_.output : fmt::format("heapprof.check.{}.json", file_word(verdict->name));
  if (const Result<Done> copied = copy_file(file, target); !copied) return copied.problem();
  verdict->profile = target;
  return Done{};
}

Result<Done> Checker::update_baseline(const Budget& budget, const std::string& file, Verdict* verdict) const {
  verdict->baseline = baseline_path(budget);
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(verdict->baseline).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, error);  // copying says what is wrong
  if (!std::filesystem::equivalent(file, verdict->baseline, error)) {
    if (const Result<Done> copied = copy_file(file, verdict->baseline); !copied) return copied.problem();
  }
  say(fmt::format("saved  {}  the baseline of {}\n", command_text({verdict->baseline}), escape_controls(budget.name)));
  return Done{};
}

// In place, with its mode; only if nobody has written to it while programs ran.
Result<Done> Checker::update_budget(const BudgetFile& file) {
  const RaisedLimits raised = raise_limits(file.text, &report_.verdicts);
  if (raised.count == 0) return Done{};
  if (const Result<BudgetFile> reads_back = parse_budget(raised.text, file.path); !reads_back)
    return budget_not_updated(file.path, "its limits are written in a way that cannot be changed here");
  const Result<BudgetFile> now = read_budget(file.path);
  if (!now || now->text != file.text) return budget_not_updated(file.path, "it changed meanwhile");
  struct stat facts {};
  const bool has_mode = stat(file.path.c_str(), &facts) == 0;
  Result<AtomicFile> target = AtomicFile::create(file.path);
  if (!target) return target.problem();
  target->write(raised.text);
  const Result<std::string> written = target->commit();
  if (!written) return written.problem();
  if (has_mode && chmod(file.path.c_str(), facts.st_mode & 07777) != 0)
    return budget_not_updated(file.path, errno_text(errno));
  say(fmt::format("saved  {}  {} limit{} raised\n", command_text({file.path}), raised.count,
                  raised.count == 1 ? "" : "s"));
  return Done{};
}

void Checker::say_trouble(const Verdict& verdict) const {
  const std::string program = verdict.command.empty() ? verdict.name : command_text({verdict.command[0]});
  if (verdict.state.trouble == Trouble::kProgramFailed) {
    print_problem(checked_program_failed(program, end_text(verdict.state.end)), options_.color);
  } else if (verdict.state.trouble == Trouble::kIncomplete) {
    print_problem(checked_profile_incomplete(verdict.profile.empty() ? program : verdict.profile, verdict.state.reason),
                  options_.color);
  }
}

// Names are keys in most of the outputs: of several profiles for one budget the second is "NAME 2".
void Checker::add(Verdict verdict) {
  const std::string name = verdict.name;
  const auto is_taken = [&](const Verdict& other) { return other.name == verdict.name; };
  const std::vector<Verdict>& all = report_.verdicts;
  for (size_t copy = 2; std::any_of(all.begin(), all.end(), is_taken); ++copy)
    verdict.name = fmt::format("{} {}", name, copy);
  report_.verdicts.push_back(std::move(verdict));
}

Result<Done> Checker::check_profiles(const CheckPlan& plan) {
  if (options_.runs > 0) return runs_of_profiles("--runs");
  if (!options_.output.empty()) return runs_of_profiles("-o");
  for (const std::string& file : options_.profiles) {
    Result<Profile> profile = read_profile(file);
    if (!profile) return profile.problem();
    const Result<Budget> budget = plan.budget_for(profile->run.command, file);
    if (!budget) return budget.problem();
    if (const Result<Done> there = check_baseline_is_there(*budget); !there) return there.problem();
    Recorded recorded;
    recorded.runs.push_back(std::move(*profile));
    recorded.files.push_back(file);
    Verdict verdict;
    if (const Result<Done> examined = examine(*budget, &recorded, &verdict); !examined) return examined.problem();
    say_trouble(verdict);
    add(std::move(verdict));
  }
  return Done{};
}

Result<Done> Checker::check_programs(const CheckPlan& plan) {
  std::vector<Budget> budgets;
  if (!options_.program.empty()) {
    Result<Budget> budget = plan.budget_for(options_.program, options_.program[0]);
    if (!budget) return budget.problem();
    budget->command = options_.program;
    budgets.push_back(std::move(*budget));
  } else {
    Result<std::vector<Budget>> all = plan.budgets_to_run();
    if (!all) return all.problem();
    budgets = std::move(*all);
  }
  if (budgets.size() > 1 && !options_.output.empty())
    return bad_value("-o", options_.output, "the profile of one program, and several are run: choose one by --name");
  for (const Budget& budget : budgets) {
    if (const Result<Done> there = check_baseline_is_there(budget); !there) return there.problem();
  }
  for (const Budget& budget : budgets) {
    Result<ScratchFolder> folder = ScratchFolder::make();
    if (!folder) return folder.problem();
    Verdict verdict;
    Result<Recorded> recorded = record(budget, budget.command, folder->path());
    if (!recorded) {
      print_problem(recorded.problem(), options_.color);
      verdict.name = budget.name;
      verdict.command = budget.command;
      verdict.state = {Trouble::kIncomplete, recorded.problem().what, {}};
      add(std::move(verdict));
      continue;
    }
    if (const Result<Done> examined = examine(budget, &*recorded, &verdict); !examined) return examined.problem();
    const RunEnd& end = verdict.state.end;  // Ctrl-C is meant for all of them
    const bool was_stopped = end.kind == EndKind::kDetached || (end.kind == EndKind::kSignaled && end.status == SIGINT);
    if (const Result<Done> kept = keep(&verdict); !kept) return kept.problem();
    say_trouble(verdict);
    add(std::move(verdict));
    if (was_stopped) break;
  }
  return Done{};
}

Result<int> Checker::run() {
  report_.warn_only = options_.warn_only;
  Result<Suppressions> suppressions = load_suppressions(options_.suppressions);
  if (!suppressions) return suppressions.problem();
  suppressions_ = std::move(*suppressions);
  if (const Result<Done> writable = try_outputs(options_); !writable) return writable.problem();
  const Result<CheckPlan> plan = CheckPlan::make(options_);
  if (!plan) return plan.problem();
  if (options_.profiles.empty() && options_.program.empty() && !plan->file()) return nothing_to_check();
  const Result<Done> checked = options_.profiles.empty() ? check_programs(*plan) : check_profiles(*plan);
  if (!checked) return checked.problem();
  if (options_.update_budget) {
    if (const Result<Done> updated = update_budget(*plan->file()); !updated) return updated.problem();
  }
  const Result<int> written = write_outputs(report_, options_);
  if (!written) return written.problem();
  if (!history_.empty()) {
    if (const Result<Done> appended = append_history(options_.history, history_); !appended) return appended.problem();
  }
  int code = *written == 0 ? 0 : kNotDone;
  for (const Verdict& verdict : report_.verdicts) {
    if (verdict.state.trouble == Trouble::kProgramFailed) code = std::max(code, kFailed);
    if (verdict.state.trouble == Trouble::kIncomplete) code = std::max(code, kIncomplete);
    if (verdict.failed() && !options_.warn_only) code = std::max(code, kOver);
  }
  return code;
}

}  // namespace

int check_command(const CheckOptions& options) {
  const Result<int> code = Checker(options).run();
  if (code) return *code;
  print_problem(code.problem(), options.color);
  return code.problem().exit_code == kOver ? kNotDone : code.problem().exit_code;  // 1 says one thing only
}

}  // namespace heapprof::cli
