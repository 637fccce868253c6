// cli/run/session_end.cc: writes the profiles of ended images, then prints the summary.
#include "cli/base/atomic_file.h"
#include "cli/base/byte_sink.h"
#include "cli/base/clock.h"
#include "cli/base/file_name.h"
#include "cli/base/problems.h"
#include "cli/base/progress.h"
#include "cli/base/saturating.h"
#include "cli/model/analysis/python/paths.h"
#include "cli/model/analysis/warnings.h"
#include "cli/run/device_limits.h"
#include "cli/run/names_advice.h"
#include "cli/run/own_cost.h"
#include "cli/run/page_files.h"
#include "cli/run/process_tree_text.h"
#include "cli/run/profile_path.h"
#include "cli/run/profile_writing.h"
#include "cli/run/session.h"
#include "cli/run/summary/headline.h"
#include "cli/run/summary/summary_files.h"
#include "cli/target/process_names.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <new>
#include <set>
#include <utility>

namespace heapprof::cli {

namespace {

// Whether a program that ended before its agent said hello may end like this. The loader exits with 127 if a library is
// missing or damaged.
bool is_end_before_start(const RunEnd& end) {
  return end.kind == EndKind::kSignaled || (end.kind == EndKind::kExited && (end.status == 126 || end.status == 127));
}

int exit_code(const RunEnd& end) { return end.kind == EndKind::kSignaled ? 128 + end.status : end.status; }

// Whether the profile itself says which program the process exec'ed, and why that has no agent (recorded by the exec
// hooks).
bool is_said_by_agent(const Coverage& coverage) {
  const std::vector<UnprofiledProgram>& programs = coverage.unprofiled_programs;
  return std::any_of(programs.begin(), programs.end(), [](const auto& program) { return program.replaced_process; });
}

}  // namespace

void RunSession::show_file(SavedProfile* one) const {
  if (!is_hidden() || one->path.empty()) return;
  const std::string shown = AtomicFile::rename_to_free_name(one->path, shown_path(one->path));
  if (shown.empty()) return;
  for (RefusedDevice& refused : one->refused) {
    if (refused.path == one->path) refused.path = shown;
  }
  one->path = shown;
}

Checkpoints::Claim RunSession::claim_path(ProcessNumber number, const ImageName& name) {
  const Checkpoints::Claim claim = checkpoints_->claim(number, name);
  if (is_hidden() && claim.may_overwrite) hidden_checkpoints_.push_back(claim.path);
  return claim;
}

void RunSession::submit(EndedImage image) {
  const RunInfo& run = image.recording.run;
  const ImageName name = {
      image.is_root, image.is_last, run.image, {run.pid, image.program, rank_text(run.job), run.start_unix_ns}};
  if (!image.is_last)
    return finisher_.submit({std::move(image.recording), names_->next(name), may_overwrite_, image.entry});
  const Checkpoints::Claim claim = claim_path(image.number, name);
  finisher_.submit({std::move(image.recording), claim.path, claim.may_overwrite, image.entry});
}

// Keeps the root's latest image back until another image follows, or none can, because the root's last image gets the
// name FILE.
void RunSession::take(EndedImage image) {
  top_service_.note_end(image);
  const bool is_last_of_root = image.is_root && image.is_last;
  // The root's first image is kept even if it allocated nothing: it shows that the root had an agent.
  const RunInfo& run = image.recording.run;
  const bool is_empty = run.counters.allocations == 0 && run.incomplete_reason != kMallocReplacedReason;
  if (image.is_lost) tree_->set_fate(image.entry, Fate::kRefused);
  if (is_empty && !is_last_of_root && (!image.is_root || root_image_)) return;
  tree_->set_fate(image.entry, Fate::kProfiled);
  if (!image.is_root) {
    submit(std::move(image));
    return;
  }
  if (root_image_ && root_image_->recording.run.counters.allocations != 0) submit(std::move(*root_image_));
  if (image.is_last && root_end_ns_ != 0) image.recording.run.cost.count_ns = monotonic_ns() - root_end_ns_;
  root_image_ = std::move(image);
}

namespace {

// The peaks of heap and mapped memory, added as in SavedProfile::peak_bytes.
uint64_t peak_of(const Profile& profile) {
  uint64_t bytes = 0;
  for (const Device& device : profile.devices) {
    if (&device == &profile.devices[0] || device.name == "mapped")
      bytes = add_saturating(bytes, device.totals.peak_bytes);
  }
  return bytes;
}

// Whether a process is so small that its file may be removed. A program may run shells and tools by the hundred. If
// many processes are small compared with the largest one, their files are removed, and their numbers remain in the list
// of processes and in the program's profile. A process that failed, lost events or reached a limit keeps its file.
bool is_small(const SavedProfile& one, uint64_t largest_bytes) {
  constexpr uint64_t kSmallBytes = 1 << 20;
  constexpr uint64_t kSmallResidentBytes = 64 << 20;  // with more, it may have an allocator of its own
  return !one.path.empty() && one.has_ended_well && one.peak_bytes < std::min(kSmallBytes, largest_bytes / 10) &&
         one.resident_bytes < kSmallResidentBytes && one.devices.empty() && one.refused.empty() &&
         one.violations == 0 && one.lost == 0;
}

// Returns the files to be removed when all profiles are written.
std::vector<std::string> drop_small(uint64_t root_peak_bytes, std::vector<SavedProfile>* others) {
  constexpr size_t kMany = 30;
  uint64_t largest_bytes = root_peak_bytes;
  for (const SavedProfile& one : *others) largest_bytes = std::max(largest_bytes, one.peak_bytes);
  std::set<uint64_t> small;  // pids: a process has a profile for each of its images
  for (const SavedProfile& one : *others) {
    if (is_small(one, largest_bytes)) small.insert(one.pid);
  }
  std::vector<std::string> files;
  for (SavedProfile& one : *others) {
    if (small.size() <= kMany || !is_small(one, largest_bytes)) continue;
    files.push_back(std::exchange(one.path, ""));
    one.is_dropped = true;
  }
  return files;
}

}  // namespace

// Waits until the other profiles are written, because the root's profile lists them.
std::optional<Finished> RunSession::finish_root(const Processes& processes, const WatchResult& watched,
                                                std::vector<SavedProfile>* others, std::vector<Problem>* problems) {
  if (processes.root_problem()) problems->push_back(*processes.root_problem());
  if (!root_image_) {
    if (processes.wrong_version() > 0) {
      problems->push_back(protocol_mismatch({0, wire::kProtocolVersion}));
    } else if (problems->empty()) {
      did_not_start_ = is_end_before_start(watched.end);
      problems->push_back(did_not_start_ ? program_did_not_start(options_.program[named_], end_text(watched.end))
                                         : nothing_profiled(options_.program[named_]));
    }
    return std::nullopt;
  }
  if (!root_image_->is_last && !is_said_by_agent(root_image_->recording.run.coverage))
    warn(root_image_replaced(root_image_->program, processes.root_became()));
  root_image_->recording.run.counters.never_profiled = never_seen_.size();
  measure_own_cost(&root_image_->recording.run.cost);
  const Checkpoints::Claim claim = claim_path(kRootNumber, {true, true, 0, {}});
  std::vector<std::string> dropped;  // files
  Result<Finished> finished = finisher_.finish(
      {std::move(root_image_->recording), claim.path, claim.may_overwrite, ProcessTree::kRoot,
       base_name(is_hidden() ? shown_path(claim.path) : claim.path)},
      [&](Profile* profile) {
        *others = finisher_.collect_saved(problems);
        for (SavedProfile& one : *others) show_file(&one);
        try {
          if (!options_.all_processes && options_.attach_pid == 0 && !has_directive(options_.output))
            dropped = drop_small(peak_of(*profile), others);
          keep_processes(*others, claim.path, &profile->run);
        } catch (const std::bad_alloc&) {
          profile->run.processes.clear();
        }
      },
      [this](Profile* profile) {
        try {
          // Not for a Python program: its summary adds rows of imports to the stacks, which the writing thread reads.
          if (!options_.quiet && !has_python(*profile)) prepare_summary(profile);
        } catch (const std::bad_alloc&) {  // show() tries again when the profile has been written
        }
      });
  if (finished) {
    if (finished->elsewhere) {
      const std::string shown = is_hidden() ? shown_path(claim.path) : claim.path;
      problems->push_back(profile_elsewhere(
          shown, finished->elsewhere->id == "HP032" ? "there was no room" : "its folder is gone or refuses it",
          finished->saved.path));
      if (claim.may_overwrite && is_hidden()) ::unlink(claim.path.c_str());  // the checkpoint, which has older numbers
    } else {
      show_file(&finished->saved);
    }
    for (const std::string& file : dropped) ::unlink(file.c_str());
    return std::move(*finished);
  }
  problems->push_back(finished.problem());
  return std::nullopt;
}

void RunSession::prepare_summary(Profile* profile) {
  mark_suppressed(rules_.suppressions, profile);
  PlaceTree tree;
  mark_folded(rules_.folds, profile, &tree);
  if (!options_.no_summary) parts_.emplace(*profile, std::move(tree));
  is_prepared_ = true;
}

void RunSession::save_page(const Profile& profile, const std::string& file) {
  if (options_.html.empty()) return;
  say("writing the page");
  const Result<std::string> saved = save_report_page(
      {&profile, file, find_warnings(profile, names_adviser(file)), options_.suppressions.all_frames}, options_.html);
  if (saved) page_ = *saved;
  if (!saved) warn(saved.problem());
}

// Errors in here do not fail the run, because the profile has been written.
void RunSession::show(Finished* root, const std::vector<SavedProfile>& others,
                      const std::vector<SavedProfile>& images) {
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
    write_fully(STDERR_FILENO, text);
    if (!page_.empty() && !options_.quiet) print_saved_page(page_, options_.color);
  } catch (const std::bad_alloc&) {
    const std::string path = root->saved.path;
    parts_.reset();
    root->profile.reset();
    end_progress();
    warn(summary_left_out(path));
  }
}

int RunSession::finish(const WatchResult& watched, const Processes& processes, uint64_t turned_away) {
  std::vector<Problem> problems;
  std::vector<SavedProfile> saved;  // all profiles but that of the root's last image
  std::optional<Finished> root = finish_root(processes, watched, &saved, &problems);
  // Reported only if the program exited with 0, because the problem would replace the program's exit code.
  if (root && own_malloc_ && root->profile->run.coverage.inner_allocators.empty() &&
      root->profile->run.counters.allocations == 0 && exit_code(watched.end) == 0) {
    problems.push_back(program_hides_allocations(options_.program[named_]));
  }
  top_service_.end_run(root ? &*root : nullptr);
  for (SavedProfile& late : finisher_.collect_saved(&problems)) {  // if the root has no profile
    show_file(&late);
    saved.push_back(std::move(late));
  }
  for (const std::string& checkpoint : hidden_checkpoints_)  // those whose profile could not be written
    AtomicFile::rename_to_free_name(checkpoint, shown_path(checkpoint));
  std::vector<SavedProfile> images;
  const auto enter = [this](const SavedProfile& one) {
    tree_->set_profile(one.entry, {one.peak_bytes, one.path, one.command, one.devices, one.refused, one.resident_bytes,
                                   one.is_dropped, one.title});
  };
  for (const SavedProfile& one : saved) {
    if (one.entry == ProcessTree::kRoot && !one.path.empty()) images.push_back(one);
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
    warn(children_never_profiled(never_seen_.size(), process_names_text(never_seen_), options_.program[named_]));
  if (turned_away != 0) warn(processes_refused(turned_away, errno_text(EMFILE)));
  for (const Problem& problem : problems) print_problem(problem, options_.color);
  if (options_.attach_pid != 0) return problems.empty() ? 0 : 1;
  ended_by_ = watched.detached_by;
  if (watched.detached_by != 0) return 128 + watched.detached_by;
  const bool is_programs_own = problems.empty() || (did_not_start_ && problems.size() == 1);
  if (!is_programs_own) return 125;
  if (watched.end.kind == EndKind::kSignaled) ended_by_ = watched.end.status;
  return exit_code(watched.end);
}

// A test may limit a large GPU to the memory of a small one. If the limit names the wrong device, the test would pass
// although nothing was limited.
void RunSession::warn_of_unused_limits(const std::vector<SavedProfile>& images) {
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

// Under a memory limit, progress is shown without a thread of its own.
void RunSession::show_progress() {
  if (options_.quiet) return;
  progress_.emplace(options_.color, is_memory_limited() ? ProgressThread::kNone : ProgressThread::kOwn);
  finisher_.show_progress(&*progress_);
}

}  // namespace heapprof::cli
