// cli/run/check.cc: run or read, measure, judge, say, keep.
#include "cli/run/check.h"

#include "cli/base/atomic_file.h"
#include "cli/base/output.h"
#include "cli/base/problems.h"
#include "cli/base/text.h"
#include "cli/model/budget_update.h"
#include "cli/model/verdict.h"
#include "cli/model/warnings.h"
#include "cli/read/read_budget.h"
#include "cli/read/read_profile.h"
#include "cli/run/baselines.h"
#include "cli/run/check_outputs.h"
#include "cli/run/check_plan.h"
#include "cli/run/commit.h"
#include "cli/run/contract_run.h"
#include "cli/run/recorded.h"
#include "cli/write/append_history.h"
#include "cli/write/check_report.h"
#include "cli/write/registry.h"
#include "cli/write/run_text.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

namespace heapprof::cli {
namespace {

constexpr int kOver = 1;
constexpr int kNotDone = 2;
constexpr int kIncomplete = 3;
constexpr int kFailed = 4;

// Ctrl-C is meant for all of them; a contract may be about it.
bool was_stopped(const Budget& budget, const RunEnd& end) {
  if (end.kind == EndKind::kDetached) return true;
  const bool is_claimed = budget.contract && budget.contract->end && ended_as_claimed(budget, end);
  return end.kind == EndKind::kSignaled && end.status == SIGINT && !is_claimed;
}

Verdict begin_verdict(const Budget& budget) {
  Verdict verdict;
  verdict.name = budget.name;
  verdict.command = budget.command;
  verdict.message = budget.message;
  if (budget.contract) verdict.statement = budget.contract->statement;
  return verdict;
}

void add_facts(const ContractRun& contract, Verdict* verdict) {
  std::vector<Judged> facts = contract.judge(verdict->state.end);
  verdict->judged.insert(verdict->judged.end(), facts.begin(), facts.end());
}

// What was measured, of the runs and of the baseline.
Evidence compare(const Budget& budget, const std::vector<Profile>& runs, size_t shown, const Baseline& baseline) {
  Evidence evidence;
  evidence.subjects = find_subjects(budget, runs[shown], baseline.profile || !baseline.runs.empty());
  if (!baseline.runs.empty()) compare_with_runs(budget, baseline.runs, &evidence);
  for (const Profile& run : runs) evidence.runs.push_back(measure(budget, evidence.subjects, run));
  if (baseline.profile) evidence.baseline = measure(budget, evidence.subjects, *baseline.profile);
  return evidence;
}

class Checker {
 public:
  explicit Checker(const CheckOptions& options) : options_(options), baselines_(options) {}
  Result<int> run();

 private:
  Result<Done> check_profiles(const CheckPlan& plan);
  Result<Done> check_programs(const CheckPlan& plan);
  Result<Verdict> check_program(const Budget& budget);
  Verdict check_unprofiled(const Budget& budget);
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
  Baselines baselines_;
  Suppressions suppressions_;
  CheckReport report_;
  std::vector<HistoryRecord> history_;
};

// What is to be said of it, but for its file.
Result<Done> Checker::examine(const Budget& budget, Recorded* recorded, Verdict* verdict) {
  verdict->runs = recorded->runs.size();
  Suppressions rules = budget.ignores;
  rules.insert(rules.end(), suppressions_.begin(), suppressions_.end());
  for (Profile& run : recorded->runs) mark_suppressed(rules, &run);
  size_t shown = representative(recorded->runs);
  for (size_t i = 0; i < recorded->runs.size(); ++i) {
    verdict->state = state_for(budget, recorded->runs[i]);
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
  if (!ended_as_claimed(budget, verdict->state.end)) return Done{};  // what it took on another way says nothing
  return judge_by(budget, *recorded, shown, verdict);
}

Result<Done> Checker::judge_by(const Budget& budget, const Recorded& recorded, size_t shown, Verdict* verdict) {
  const Profile& profile = recorded.runs[shown];
  std::vector<Problem> warnings;
  const Result<Done> fits = check_budget(budget, profile, verdict->profile, &warnings);
  if (!fits) return fits.problem();
  for (const Problem& warning : warnings) warn(warning);
  Suppressions rules = budget.ignores;
  rules.insert(rules.end(), suppressions_.begin(), suppressions_.end());
  Result<Baseline> baseline = baselines_.find(budget, profile, rules);
  if (!baseline) return baseline.problem();
  verdict->baseline = baseline->path;
  verdict->baseline_runs = count_baseline_runs(baseline->runs);
  const Evidence evidence = compare(budget, recorded.runs, shown, *baseline);
  if (options_.update_baseline) {
    if (const Result<Done> saved = update_baseline(budget, recorded.files[shown], verdict); !saved)
      return saved.problem();
  }
  verdict->judged = judge(budget, evidence);
  verdict->devices = measure_devices(recorded.runs);
  find_culprits(budget, profile, baseline->profile ? &*baseline->profile : nullptr, project_folder(), &verdict->judged);
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
  if (const Result<Done> copied = copy_profile(file, target); !copied) return copied.problem();
  verdict->profile = target;
  return Done{};
}

Result<Done> Checker::update_baseline(const Budget& budget, const std::string& file, Verdict* verdict) const {
  verdict->baseline = baseline_path(budget);
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::path(verdict->baseline).parent_path();
  if (!folder.empty()) std::filesystem::create_directories(folder, error);  // copying says what is wrong
  if (!std::filesystem::equivalent(file, verdict->baseline, error)) {
    if (const Result<Done> copied = copy_profile(file, verdict->baseline); !copied) return copied.problem();
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
    if (const Result<Done> there = baselines_.check(*budget); !there) return there.problem();
    Recorded recorded;
    recorded.runs.push_back(std::move(*profile));
    recorded.files.push_back(file);
    Verdict verdict = begin_verdict(*budget);
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
    if (const Result<Done> there = baselines_.check(budget); !there) return there.problem();
  }
  for (const Budget& budget : budgets) {
    const bool is_profiled = !budget.contract || budget.contract->is_profiled;
    Result<Verdict> verdict = is_profiled ? check_program(budget) : Result<Verdict>(check_unprofiled(budget));
    if (!verdict) return verdict.problem();
    const RunEnd end = verdict->state.end;
    add(std::move(*verdict));
    if (was_stopped(budget, end)) break;
  }
  return Done{};
}

Result<Verdict> Checker::check_program(const Budget& budget) {
  Result<ScratchFolder> folder = ScratchFolder::make();
  if (!folder) return folder.problem();
  std::optional<ContractRun> contract;
  if (budget.contract) contract.emplace(*budget.contract);
  Verdict verdict = begin_verdict(budget);
  Result<Recorded> recorded = record(budget, folder->path(), options_.color);
  if (!recorded) {
    print_problem(recorded.problem(), options_.color);
    verdict.state = {Trouble::kIncomplete, recorded.problem().what, false, {}};
    return verdict;
  }
  if (const Result<Done> examined = examine(budget, &*recorded, &verdict); !examined) return examined.problem();
  if (contract && verdict.state.trouble == Trouble::kNone) add_facts(*contract, &verdict);
  for (HistoryRecord& record : history_) {
    if (record.name == budget.name && verdict.failed()) record.ok = false;
  }
  if (const Result<Done> kept = keep(&verdict); !kept) return kept.problem();
  say_trouble(verdict);
  return verdict;
}

// For what must hold where there is no heapprof.
Verdict Checker::check_unprofiled(const Budget& budget) {
  const ContractRun contract(*budget.contract);
  Verdict verdict = begin_verdict(budget);
  const Result<RunEnd> end = run_unprofiled(budget.command);
  if (!end) {
    print_problem(end.problem(), options_.color);
    verdict.state = {Trouble::kIncomplete, end.problem().what, false, {}};
    return verdict;
  }
  verdict.state.end = *end;
  const bool has_failed = end->kind != EndKind::kExited || end->status != 0;
  if (!budget.contract->end && has_failed) verdict.state.trouble = Trouble::kProgramFailed;
  if (verdict.state.trouble == Trouble::kNone) add_facts(contract, &verdict);
  say_trouble(verdict);
  return verdict;
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
