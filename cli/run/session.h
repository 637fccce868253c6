// cli/run/session.h: one run of a program, or one attach, from its start to the summary.
//
// run.cc starts and watches the program; session_end.cc writes the profiles and prints the summary.
#pragma once

#include "cli/base/problems.h"
#include "cli/base/progress.h"
#include "cli/base/result.h"
#include "cli/run/checkpoints.h"
#include "cli/run/finisher.h"
#include "cli/run/inherited.h"
#include "cli/run/live_viewer.h"
#include "cli/run/process_tree.h"
#include "cli/run/processes.h"
#include "cli/run/profile_path.h"
#include "cli/run/run.h"
#include "cli/run/run_server.h"
#include "cli/run/signals.h"
#include "cli/run/summary/summary.h"
#include "cli/run/top_service.h"
#include "cli/run/watch.h"
#include "cli/target/agent_files.h"
#include "cli/target/elf_check.h"
#include "cli/target/launch.h"
#include "cli/target/server.h"

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

FinishOptions finish_options(const RunOptions& options);

class RunSession {
 public:
  explicit RunSession(const RunOptions& options, const Inherited& inherited)
      : options_(options),
        inherited_(inherited),
        finisher_(finish_options(options)),
        top_service_(finish_options(options), &rules_.folds) {}

  // Return the exit code, or the problem why the program could not be started or attached to.
  Result<int> run();
  Result<int> run_attached();
  // The signal that ended the program, or that made heapprof stop watching; 0: none.
  int ended_by() const { return ended_by_; }

 private:
  Result<LaunchOptions> prepare_launch(const ProgramFacts& facts, const AgentFiles& agent, const Server& server,
                                       const SignalWatch& signals);
  NameFacts root_facts(pid_t pid) const;
  std::string name_pattern(uint64_t pid) const;
  std::string trial_path() const;
  Result<Done> spare_programs(const std::vector<std::string>& programs) const;
  // Profiles have a dot before their names until the run has ended (profile_path.h).
  bool is_hidden() const { return options_.output.empty(); }
  void show_file(SavedProfile* one) const;
  Checkpoints::Claim claim_path(ProcessNumber number, const ImageName& name);
  void take(EndedImage image);
  void submit(EndedImage image);
  std::optional<Finished> finish_root(const Processes& processes, const WatchResult& watched,
                                      std::vector<SavedProfile>* others, std::vector<Problem>* problems);
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
  Result<Done> prepare();
  std::string invitation(const Server& server) const;
  Checkpoints& begin_checkpoints();
  void show_progress();
  void end_progress() {
    finisher_.show_progress(nullptr);
    progress_.reset();
  }

  const RunOptions& options_;
  const Inherited& inherited_;
  ReportRules rules_;                 // of the summary
  std::optional<Progress> progress_;  // shown from the program's end to the summary; not with --quiet
  Finisher finisher_;
  std::string page_;  // the page's file, once it is written
  TopService top_service_;
  LiveViewer viewer_;                            // of --live
  RunServer served_;                             // of --serve
  std::optional<ProcessTree> tree_;              // set once the program is started
  std::optional<ProfileNames> names_;            // "
  std::optional<Checkpoints> checkpoints_;       // "
  std::vector<std::string> hidden_checkpoints_;  // claimed checkpoints that may be left with a hidden name
  size_t named_ = 0;                             // index of the program in the command; not 0 if a loader comes first
  bool may_overwrite_ = false;
  bool own_malloc_ = false;        // the program's executable defines malloc
  std::vector<pid_t> never_seen_;  // live processes of the run that never asked for an arena
  uint64_t root_end_ns_ = 0;       // when heapprof saw the started program's end
  int ended_by_ = 0;
  bool did_not_start_ = false;            // nothing was profiled, as the program seems not to have started
  std::optional<SummaryParts> parts_;     // of the root's profile
  bool is_prepared_ = false;              // the root's profile is marked, and parts_ is set unless --no-summary
  std::optional<EndedImage> root_image_;  // the latest image of the root; it is submitted if another follows
};

}  // namespace heapprof::cli
