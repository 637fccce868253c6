// cli/check/check.cc: runs programs or reads profiles, then measures, judges and reports them one by one, and keeps
// profiles.
//
// The result of a check in continuous integration is read hours later, and should show all errors, not only the first.
// So a problem prevents only its own verdict ("not judged", with the reason). The other programs are judged, and every
// output is written in the end. Only an error before anything ran (a budget, a path that cannot be written) ends the
// check at once: then no result is lost.
//
// The exit status is the worst of all that happened. 1 means only that a limit was exceeded, because scripts rely on
// it.
#include "cli/check/check.h"

#include "cli/base/byte_sink.h"
#include "cli/base/file_name.h"
#include "cli/base/problems.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/check/baselines.h"
#include "cli/check/check_outputs.h"
#include "cli/check/check_plan.h"
#include "cli/check/contract_run.h"
#include "cli/check/program_profiles.h"
#include "cli/check/started.h"
#include "cli/model/analysis/sampling.h"
#include "cli/model/analysis/warnings.h"
#include "cli/model/judge/verdict.h"
#include "cli/model/judge/verdict_entry.h"
#include "cli/read/read_profile.h"
#include "cli/run/inherited.h"
#include "cli/run/init.h"
#include "cli/write/check/check_report.h"
#include "cli/write/history/append_history.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <string>
#include <utility>

namespace heapprof::cli {
namespace {

constexpr int kOver = 1;
constexpr int kNotDone = 2;
constexpr int kIncomplete = 3;
constexpr int kFailed = 4;

// The exit code for a problem. 1 is reserved for limits; a program that cannot be started leaves no profile (3).
int code_of(const Problem& problem) {
  if (problem.exit_code > kFailed) return kIncomplete;
  return problem.exit_code == kOver ? kNotDone : problem.exit_code;
}

// What is judged, and by which budget.
struct Case {
  const Budget& budget;
  ProgramProfiles measured;
  const BudgetFit* fit = nullptr;         // how the budget fits all its processes; null: it has only this one
  bool is_started = false;                // started by the program, not by heapprof
  const ContractRun* contract = nullptr;  // its claims besides memory
};

class Checker {
 public:
  Checker(const CheckOptions& options, const Inherited& inherited)
      : options_(options), inherited_(inherited), baselines_(options) {}
  Result<int> run();

 private:
  Result<Done> check_profiles(const CheckPlan& plan);
  Result<Done> check_programs(const CheckPlan& plan);
  Verdict begin_verdict(const Budget& budget) const;
  bool check_program(const CheckPlan& plan, const Budget& budget);
  bool check_unprofiled(const Budget& budget);
  void check_started(const Started& started, const BudgetFit& fit);
  Verdict examine(Case* what);
  Result<Done> judge_by(Case* what, size_t shown, Verdict* verdict);
  Result<Done> keep(const std::string& target, Verdict* verdict) const;
  Result<Done> update_baseline(const Budget& budget, const std::string& file, Verdict* verdict) const;
  Result<Done> update_budget(const BudgetFile& file);
  void write_all(const CheckPlan& plan);
  void add_kept(const std::string& target, Verdict verdict);
  void say_trouble(const Verdict& verdict) const;
  void not_judged(const Problem& problem, Verdict* verdict) const;
  void complain(const Problem& problem) {
    print_problem(problem, options_.color);
    code_ = std::max(code_, code_of(problem));
  }
  void say(const std::string& words) const {
    if (!options_.quiet) write_fully(STDERR_FILENO, words);
  }
  void warn(const Problem& problem) const {
    if (!options_.quiet) print_problem(problem, options_.color);
  }

  const CheckOptions& options_;
  const Inherited& inherited_;  // what each program inherits
  Baselines baselines_;
  ReportRules rules_;
  CheckReport report_;
  std::vector<HistoryEntry> history_;
  int code_ = 0;  // the worst of all errors besides the verdicts
};

Verdict Checker::begin_verdict(const Budget& budget) const {
  Verdict verdict;
  verdict.name = free_name(report_.verdicts, budget.name);
  verdict.command = budget.command;
  verdict.message = budget.message;
  if (budget.contract) verdict.statement = budget.contract->statement;
  return verdict;
}

// Judges a program. Verdict::profile is where its profile is now.
Verdict Checker::examine(Case* what) {
  const Budget& budget = what->budget;
  ProgramProfiles& measured = what->measured;
  Verdict verdict = begin_verdict(budget);
  verdict.runs = measured.runs.size();
  verdict.unjudged = measured.unjudged;
  Suppressions rules = budget.ignores;
  rules.insert(rules.end(), rules_.suppressions.begin(), rules_.suppressions.end());
  for (Profile& run : measured.runs) mark_suppressed(rules, &run);
  size_t shown = representative(measured.runs);
  for (size_t i = 0; i < measured.runs.size(); ++i) {
    verdict.state = what->is_started ? find_started_state(measured.runs[i])
                                     : state_for(budget, measured.runs[i], options_.warn_only);
    if (verdict.state.trouble != Trouble::kNone || !ended_as_claimed(budget, verdict.state.end)) {
      shown = i;
      break;
    }
  }
  Profile& profile = measured.runs[shown];
  verdict.profile = measured.files[shown];
  verdict.command = profile.run.command;
  verdict.duration_ns = profile.run.duration_ns;
  if (verdict.state.trouble != Trouble::kNone) return verdict;
  mark_folded(rules_.folds, &profile);
  for (const Problem& warning : find_warnings(profile)) {
    if (warning.id != "HP042") warn(warning);  // times are not judged
  }
  for (const Problem& warning : find_refusals(profile)) warn(warning);
  if (!ended_as_claimed(budget, verdict.state.end)) {  // memory used on another path proves nothing
    add_facts(*what->contract, &verdict);
    return verdict;
  }
  const Result<Done> judged = judge_by(what, shown, &verdict);
  if (!judged) not_judged(judged.problem(), &verdict);
  return verdict;
}

Result<Done> Checker::judge_by(Case* what, size_t shown, Verdict* verdict) {
  const Budget& budget = what->budget;
  const std::vector<Profile>& runs = what->measured.runs;
  Profile& profile = what->measured.runs[shown];
  for (size_t i = 0; i < runs.size() && !options_.allow_sampled; ++i) {
    if (const std::string why = why_partial(runs[i]); !why.empty())
      return profile_is_partial(what->measured.files[i], why);
  }
  std::vector<Problem> warnings;
  const Result<Done> fits = what->fit == nullptr ? check_budget(budget, runs, what->measured.files, &warnings)
                            : what->is_started   ? Done{}
                                                 : what->fit->finish(&warnings);
  for (const Problem& warning : warnings) warn(warning);  // they say why nothing fits
  if (!fits) return fits.problem();
  Suppressions rules = budget.ignores;
  rules.insert(rules.end(), rules_.suppressions.begin(), rules_.suppressions.end());
  if (const Result<Done> there = baselines_.check(budget); !there) return there.problem();
  Result<Baseline> baseline = baselines_.find(budget, profile, rules);
  if (!baseline) return baseline.problem();
  const std::string why = baseline->profile && !options_.allow_sampled ? why_partial(*baseline->profile) : "";
  if (!why.empty()) return profile_is_partial(baseline->path, why);
  verdict->baseline = baseline->path;
  verdict->baseline_runs = count_baseline_runs(baseline->runs);
  const Evidence evidence = compare(budget, runs, shown, *baseline);
  if (options_.update_baseline && !budget.baseline.empty()) {
    if (const Result<Done> saved = update_baseline(budget, what->measured.files[shown], verdict); !saved)
      return saved.problem();
    say(spread_text(budget, runs));
  }
  verdict->judged = judge(budget, evidence);
  verdict->devices = measure_devices(runs);
  if (baseline->profile) mark_folded(rules_.folds, std::array<Profile*, 2>{&profile, &*baseline->profile});
  find_culprits(budget, profile, baseline->profile ? &*baseline->profile : nullptr, project_folder(), &verdict->judged);
  verdict->folded = find_folded_names(profile);
  if (what->contract != nullptr) add_facts(*what->contract, verdict);
  if (options_.history.empty()) return Done{};
  for (const Device& device : profile.devices)
    history_.push_back(make_history_entry(profile, device, *verdict, find_commit(options_.commit)));
  return Done{};
}

// Keeps the profile in `target`. If `target` is empty, keeps it only if the program failed, exceeded a limit or could
// not be judged, in a file that is named after the verdict.
Result<Done> Checker::keep(const std::string& target, Verdict* verdict) const {
  const std::string file = std::exchange(verdict->profile, "");
  if (file.empty()) return Done{};  // no profile
  const bool is_wanted = verdict->state.trouble != Trouble::kNone || verdict->failed();
  if (target.empty() && !is_wanted) return Done{};
  const std::string copy = !target.empty() ? target : fmt::format("heapprof.check.{}.json", file_word(verdict->name));
  if (const Result<Done> copied = copy_file(file, copy); !copied) return copied.problem();
  verdict->profile = copy;
  return Done{};
}

Result<Done> Checker::update_baseline(const Budget& budget, const std::string& file, Verdict* verdict) const {
  verdict->baseline = baseline_path(budget);
  if (const Result<Done> replaced = replace_baseline(file, verdict->baseline); !replaced) return replaced.problem();
  say(fmt::format("saved  {}  the baseline of {}\n", command_text({verdict->baseline}), escape_controls(budget.name)));
  return Done{};
}

Result<Done> Checker::update_budget(const BudgetFile& file) {
  const Result<size_t> raised = update_budget_file(file, &report_.verdicts);
  if (!raised) return raised.problem();
  if (*raised > 0)
    say(fmt::format("saved  {}  {} raised\n", command_text({file.path}), format_counted(*raised, "limit")));
  return Done{};
}

void Checker::say_trouble(const Verdict& verdict) const {
  const std::string program = verdict.command.empty() ? verdict.name : command_text({verdict.command[0]});
  if (verdict.state.trouble == Trouble::kProgramFailed) {
    print_problem(checked_program_failed(program, end_text(verdict.state.end)), options_.color);
  } else if (verdict.state.trouble == Trouble::kIncomplete && verdict.state.reason == kMallocReplacedReason) {
    print_problem(malloc_replaced(program, true), options_.color);
  } else if (verdict.state.trouble == Trouble::kIncomplete) {
    print_problem(checked_profile_incomplete(verdict.profile.empty() ? program : verdict.profile, verdict.state.reason),
                  options_.color);
  }
}

void Checker::not_judged(const Problem& problem, Verdict* verdict) const {
  print_problem(problem, options_.color);
  verdict->state = {Trouble::kNotJudged, problem.what, false, verdict->state.end, code_of(problem)};
}

Result<Done> Checker::check_profiles(const CheckPlan& plan) {
  if (options_.runs > 0) return runs_of_profiles("--runs");
  if (options_.processes) return runs_of_profiles("--processes");
  if (!options_.output.empty()) return runs_of_profiles("-o");
  for (const std::string& file : options_.profiles) {
    Verdict unread;
    unread.name = free_name(report_.verdicts, base_name(file));
    unread.profile = file;
    Result<Profile> profile = read_profile(file);
    const Result<std::vector<Budget>> budgets =
        profile ? plan.budgets_for(profile->run.command, file) : profile.problem();
    if (!budgets) {
      not_judged(budgets.problem(), &unread);
      report_.verdicts.push_back(std::move(unread));
      continue;
    }
    for (const Budget& budget : *budgets) {
      Case what{budget, {}};
      what.measured.unjudged = count_unprofiled(*profile);
      what.measured.runs.push_back(&budget == &budgets->back() ? std::move(*profile) : *profile);
      what.measured.files.push_back(file);
      Verdict verdict = examine(&what);
      say_trouble(verdict);
      report_.verdicts.push_back(std::move(verdict));
    }
  }
  return Done{};
}

void Checker::check_started(const Started& started, const BudgetFit& fit) {
  Result<ProgramProfiles> measured = read_started(started.process);
  if (!measured) return complain(measured.problem());
  Case what{started.budget, std::move(*measured), started.is_own ? nullptr : &fit, true};
  add_kept("", examine(&what));
}

void Checker::add_kept(const std::string& target, Verdict verdict) {
  if (const Result<Done> kept = keep(target, &verdict); !kept) complain(kept.problem());
  say_trouble(verdict);
  report_.verdicts.push_back(std::move(verdict));
}

// Runs one program and judges it. False: the user stopped the whole check.
bool Checker::check_program(const CheckPlan& plan, const Budget& budget) {
  if (budget.contract && !budget.contract->is_profiled) return check_unprofiled(budget);
  std::optional<ContractRun> contract;
  if (budget.contract) contract.emplace(*budget.contract);
  const Result<ScratchFolder> folder = ScratchFolder::make();
  Result<ProgramProfiles> measured = folder ? profile_program(budget, inherited_, folder->path(), options_.color)
                                            : Result<ProgramProfiles>(folder.problem());
  if (!measured) {
    Verdict unseen = begin_verdict(budget);
    not_judged(measured.problem(), &unseen);
    add_kept("", std::move(unseen));
    return true;
  }
  BudgetFit fit(budget);
  const bool is_each =
      budget.processes == ProcessScope::kEach && find_run_state(measured->runs.back()).trouble == Trouble::kNone;
  const Result<std::vector<Started>> started =
      is_each ? find_cases(plan, budget, folder->path(), &*measured, &fit) : std::vector<Started>();
  if (!started) complain(started.problem());
  Case what{budget, std::move(*measured), is_each && started ? &fit : nullptr, false, contract ? &*contract : nullptr};
  Verdict verdict = examine(&what);
  const RunEnd end = verdict.state.end;
  const bool is_judged = verdict.state.trouble == Trouble::kNone;
  const bool has_failed = !is_judged && verdict.state.trouble != Trouble::kNotJudged;
  if (is_judged && verdict.unjudged.processes > 0) warn(others_not_judged(verdict.unjudged.processes, is_each));
  if (is_judged && verdict.unjudged.replaced > 0) warn(replaced_not_judged(verdict.unjudged.replaced));
  add_kept(options_.output, std::move(verdict));
  if (started && !has_failed) {
    for (const Started& process : *started) check_started(process, fit);
  }
  return !was_stopped(budget, end);
}

// Runs a program without heapprof, for contracts that ask for it. False as above.
bool Checker::check_unprofiled(const Budget& budget) {
  const ContractRun contract(*budget.contract);
  Verdict verdict = begin_verdict(budget);
  const Result<RunEnd> end = run_unprofiled(budget.command, inherited_);
  if (!end) {
    not_judged(end.problem(), &verdict);
    add_kept("", std::move(verdict));
    return true;
  }
  verdict.state.end = *end;
  const bool has_failed = end->kind != EndKind::kExited || end->status != 0;
  if (budget.contract->end ? options_.warn_only && !ended_as_claimed(budget, *end) : has_failed)
    verdict.state.trouble = Trouble::kProgramFailed;
  if (verdict.state.trouble == Trouble::kNone) add_facts(contract, &verdict);
  add_kept("", std::move(verdict));
  return !was_stopped(budget, *end);
}

Result<Done> Checker::check_programs(const CheckPlan& plan) {
  std::vector<Budget> budgets;
  if (!options_.program.empty()) {
    Result<std::vector<Budget>> found = plan.budgets_for(options_.program, options_.program[0]);
    if (!found) return found.problem();
    budgets = std::move(*found);
    for (Budget& budget : budgets) budget.command = options_.program;
  } else {
    Result<std::vector<Budget>> all = plan.budgets_to_run();
    if (!all) return all.problem();
    budgets = std::move(*all);
  }
  if (budgets.size() > 1 && !options_.output.empty())
    return bad_value("-o", options_.output, "the profile of one program, and several are run: choose one by --name");
  std::set<std::string> written;
  for (const Budget& budget : budgets) {
    if (options_.update_baseline && !budget.baseline.empty() && !written.insert(baseline_path(budget)).second)
      return bad_value("--update-baseline", baseline_path(budget),
                       "it would be the baseline of several budgets: choose one by --name");
    if (const Result<Done> there = baselines_.check(budget); !there) return there.problem();
  }
  bool is_stopped = false;  // Ctrl-C ends the whole check
  for (const Budget& budget : budgets) {
    if (!is_stopped) {
      is_stopped = !check_program(plan, budget);
    } else {
      report_.verdicts.push_back(begin_verdict(budget));
      report_.verdicts.back().state = {
          Trouble::kNotJudged, "it was not run: the check was stopped", false, {}, kIncomplete};
    }
  }
  return Done{};
}

// Writes all outputs, even if some fail.
void Checker::write_all(const CheckPlan& plan) {
  if (options_.update_budget) {
    if (const Result<Done> updated = update_budget(*plan.file()); !updated) complain(updated.problem());
  }
  if (!write_outputs(report_, options_)) code_ = std::max(code_, kNotDone);
  if (history_.empty()) return;
  for (const Verdict& verdict : report_.verdicts) {  // judged by the raised limits
    for (HistoryEntry& entry : history_) entry.ok = entry.name == verdict.name ? !verdict.failed() : entry.ok;
  }
  if (const Result<Done> appended = append_history(options_.history, history_); !appended) complain(appended.problem());
}

Result<int> Checker::run() {
  report_.warn_only = options_.warn_only;
  report_.folder = folder_in_project();
  report_.has_run = options_.profiles.empty();
  Result<ReportRules> rules = load_rules(options_.suppressions);
  if (!rules) return rules.problem();
  rules_ = std::move(*rules);
  if (const Result<Done> writable = try_outputs(options_); !writable) return writable.problem();
  const Result<CheckPlan> plan = CheckPlan::make(options_);
  if (!plan) return plan.problem();
  if (options_.profiles.empty() && options_.program.empty() && !plan->file()) return nothing_to_check();
  const Result<Done> checked = options_.profiles.empty() ? check_programs(*plan) : check_profiles(*plan);
  if (!checked) return checked.problem();
  write_all(*plan);
  for (const Verdict& verdict : report_.verdicts) {
    const RunState& state = verdict.state;
    if (state.trouble == Trouble::kProgramFailed) code_ = std::max(code_, kFailed);
    if (state.trouble == Trouble::kIncomplete) code_ = std::max(code_, kIncomplete);
    if (state.trouble == Trouble::kNotJudged) code_ = std::max(code_, state.exit_code);
    if (verdict.failed() && !options_.warn_only) code_ = std::max(code_, kOver);
  }
  return code_;
}

}  // namespace

int check_command(const CheckOptions& options) {
  const Inherited inherited;  // constructed before the first run, which changes some of it
  if (options.profiles.empty()) {
    if (const std::optional<int> code = serve_as_init(inherited)) return *code;
  }
  const Result<int> code = Checker(options, inherited).run();
  if (code) return *code;
  print_problem(code.problem(), options.color);
  return code_of(code.problem());
}

}  // namespace heapprof::cli
