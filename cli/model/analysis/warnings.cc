// cli/model/analysis/warnings.cc: reports every counter that means wrong numbers or truncated stacks.
#include "cli/model/analysis/warnings.h"

#include "cli/base/file_name.h"
#include "cli/base/problems.h"
#include "cli/base/saturating.h"
#include "cli/base/units.h"
#include "cli/model/analysis/own_pools.h"
#include "cli/model/analysis/python/calls.h"
#include "cli/model/analysis/script_frames.h"
#include "cli/model/analysis/unnamed.h"

#include <algorithm>
#include <optional>
#include <string>

namespace heapprof::cli {
namespace {

constexpr size_t kMostNames = 5;

std::string list_texts(const std::vector<std::string>& texts) {
  std::string list;
  for (size_t i = 0; i < std::min(texts.size(), kMostNames); ++i) list += (i == 0 ? "" : ", ") + texts[i];
  if (texts.size() > kMostNames) list += " and " + std::to_string(texts.size() - kMostNames) + " more";
  return list;
}

std::string list_names(std::vector<std::string> paths) {
  for (std::string& path : paths) path = base_name(path);
  return list_texts(paths);
}

// Warns about programs that the process became by exec, and, in one sentence, about those that it started.
void warn_of_unprofiled(const std::vector<UnprofiledProgram>& programs, uint64_t notes_lost,
                        std::vector<Problem>* warnings) {
  std::string started;
  size_t names = 0;
  for (const UnprofiledProgram& program : programs) {
    if (program.replaced_process) {
      warnings->push_back(program_replaced(program.path, program.reason));
    } else if (++names <= kMostNames) {
      started += (started.empty() ? "" : ", ") + base_name(program.path) + " (" + program.reason + ")";
      if (program.count > 1) started += " " + std::to_string(program.count) + " times";
    }
  }
  if (names > kMostNames) started += " and " + std::to_string(names - kMostNames) + " more";
  if (notes_lost > 0) started += (started.empty() ? "" : ", ") + std::to_string(notes_lost) + " starts without a name";
  if (!started.empty()) warnings->push_back(programs_not_profiled(started));
}

// Warns if a third of the peak has no function name, because the report then explains little. The warning names the
// module with most of that memory.
void warn_of_missing_names(const Profile& profile, const NamesAdviser& adviser, const PlaceTree* tree,
                           std::vector<Problem>* warnings) {
  constexpr uint64_t kSharePercent = 33;
  const UnnamedMemory unnamed = find_unnamed(profile, tree);
  const uint64_t peak_bytes = profile.devices[0].totals.peak_bytes;
  if (unnamed.sum_bytes == 0 || unnamed.sum_bytes / kSharePercent * 100 < peak_bytes) return;
  const auto largest = std::max_element(unnamed.peak_bytes.begin(), unnamed.peak_bytes.end());
  const ProfileModule& module = profile.modules[static_cast<size_t>(largest - unnamed.peak_bytes.begin())];
  warnings->push_back(names_missing(base_name(module.path), {unnamed.sum_bytes, peak_bytes},
                                    adviser ? adviser(module) : NamesAdvice()));
}

// How many stacks of all devices are truncated; every allocation has a stack. Rows of small sites do not say how many
// of their stacks are truncated, so the run's counter decides.
Share truncated_share(const Profile& profile) {
  Share share{0, 0};
  for (const Device& device : profile.devices) {
    for (const Site& site : device.sites) {
      share.all = add_saturating(share.all, site.numbers.total_blocks);
      if (site.truncated) share.count = add_saturating(share.count, site.numbers.total_blocks);
    }
  }
  const uint64_t counted = profile.run.counters.truncated_stacks;
  if (counted == 0) return {0, share.all};
  if (!profile.run.sampling.is_sampled()) share.count = std::max(share.count, counted);
  return {std::max<uint64_t>(share.count, 1),
          std::max<uint64_t>({share.all, share.count, profile.run.counters.allocations, 1})};
}

// Code that an interpreter generates at run time has no unwind tables, and no names unless a flag makes the interpreter
// write them. One flag enables both.
void warn_of_scripts(const Profile& profile, std::vector<Problem>* warnings) {
  const Share truncated = truncated_share(profile);
  const std::string runtime = truncated.count == 0 ? "" : running_runtime(profile);
  if (const std::optional<ScriptHint> hint = find_script_hint(profile)) {
    warnings->push_back(script_without_names(hint->language, hint->device, {hint->peak_bytes, hint->all_bytes},
                                             runtime.empty() ? 0 : truncated.count, hint->command));
    if (!runtime.empty()) return;
  }
  if (truncated.count > 0) warnings->push_back(stacks_truncated(truncated, runtime));
}

// Blocks that were freed but never allocated, or allocated again but never freed, belong to an allocator that bypasses
// the hooks. A program without such an allocator has only a few of these blocks: those that libc allocated before the
// agent started, and those of abandoned events.
void warn_of_elsewhere(const Counters& counters, std::vector<Problem>* warnings) {
  constexpr uint64_t kFew = 10;
  constexpr uint64_t kSharePercent = 1;
  const uint64_t elsewhere = add_saturating(counters.foreign_frees, counters.unseen_frees);
  const uint64_t all = add_saturating(counters.allocations, counters.foreign_frees);
  if (elsewhere >= kFew && elsewhere / kSharePercent >= all / 100)
    warnings->push_back(blocks_of_elsewhere({elsewhere, all}));
}

// If a module was read in part, its entry ends with the missing part in brackets.
void warn_of_unread(const std::vector<std::string>& modules, std::vector<Problem>* warnings) {
  std::vector<std::string> whole;
  std::vector<std::string> in_part;
  for (const std::string& module : modules) (module.ends_with(')') ? in_part : whole).push_back(module);
  if (!whole.empty()) warnings->push_back(names_not_read(list_names(whole)));
  if (!in_part.empty()) warnings->push_back(names_partly_read(list_texts(in_part)));
}

// Whether the profile is incomplete for another reason than lost events (collect/counters.cc), which HP038 reports.
bool has_other_reason(const std::string& reason) { return !reason.empty() && reason != "events were lost"; }

}  // namespace

std::vector<Problem> find_warnings(const Profile& profile, const NamesAdviser& adviser, const PlaceTree* tree) {
  std::vector<Problem> warnings;
  if (profile.dialect != Dialect::kHeapprof) return warnings;
  const Counters& counters = profile.run.counters;
  const Coverage& coverage = profile.run.coverage;
  const uint64_t events = counters.allocations + counters.frees;
  if (counters.lost > 0) warnings.push_back(events_lost({counters.lost, events + counters.lost}));
  const std::string& reason = profile.run.incomplete_reason;
  if (reason.starts_with(kMemoryLimitReason)) {
    warnings.push_back(memory_limit_reached(reason));
  } else if (reason == kMallocReplacedReason) {
    warnings.push_back(malloc_replaced(profile.run.command.empty() ? "" : profile.run.command[0], false));
  } else if (!profile.run.complete && (counters.lost == 0 || has_other_reason(reason))) {
    warnings.push_back(profile_incomplete(reason));
  }
  if (profile.run.sampling.is_sampled())
    warnings.push_back(numbers_are_estimates(format_bytes(profile.run.sampling.interval_bytes)));
  if (counters.corrupt_records > 0) warnings.push_back(records_corrupt(counters.corrupt_records));
  if (!coverage.self_test_failures.empty())
    warnings.push_back(self_test_failed(list_names(coverage.self_test_failures)));
  if (!coverage.bypassing_modules.empty())
    warnings.push_back(modules_bypass_hooks(list_names(coverage.bypassing_modules)));
  for (const std::string& one : coverage.unhooked_allocators)
    warnings.push_back(inner_allocator_not_hooked(base_name(profile.run.executable), one));
  if (counters.lost == 0 && profile.run.complete) warn_of_elsewhere(counters, &warnings);
  if (!coverage.unknown_functions.empty())
    warnings.push_back(functions_unknown(list_names(coverage.unknown_functions)));
  if (counters.unmatched_device_events > 0)
    warnings.push_back(device_memory_unmatched(counters.unmatched_device_events));
  if (profile.scopes.nvtx_left > 0) warnings.push_back(nvtx_left_to_tool(profile.scopes.nvtx_left));
  warn_of_unprofiled(coverage.unprofiled_programs, counters.notes_lost, &warnings);
  if (counters.never_profiled > 0)
    warnings.push_back(children_never_profiled(
        counters.never_profiled, "", profile.run.command.empty() ? profile.run.executable : profile.run.command[0]));
  if (!coverage.unread_interpreters.empty())
    warnings.push_back(interpreters_not_read(list_names(coverage.unread_interpreters)));
  for (const std::string& why : coverage.unrecorded_objects) warnings.push_back(objects_not_recorded(why));
  for (const std::string& why : coverage.unrecorded_operators) warnings.push_back(operators_not_recorded(why));
  if (counters.python_broken > 0) warnings.push_back(python_frames_broken(counters.python_broken));
  if (counters.codes_lost > 0) warnings.push_back(python_codes_lost(counters.codes_lost));
  if (counters.tensors_refused > 0) warnings.push_back(tensors_without_address(counters.tensors_refused));
  if (counters.operators_lost > 0) warnings.push_back(operators_without_scopes(counters.operators_lost));
  const uint64_t unread_sites = count_unread_python_sites(profile);
  if (unread_sites > 0) warnings.push_back(python_calls_unread(unread_sites));
  if (counters.verify_mismatched > 0)
    warnings.push_back(verification_failed({counters.verify_mismatched, counters.verify_checked}));
  if (counters.verify_skipped > 0) warnings.push_back(libunwind_not_used(counters.verify_skipped));
  warn_of_scripts(profile, &warnings);
  for (const OwnPool& pool : find_own_pools(profile))
    warnings.push_back(objects_in_own_pool(pool.owner, {pool.peak_bytes, pool.all_bytes}, pool.command));
  warn_of_unread(coverage.unread_modules, &warnings);
  if (coverage.clock == "sequence") warnings.push_back(clock_without_time(coverage.clock));
  if (!profile.devices.empty() && !profile.frames.empty()) warn_of_missing_names(profile, adviser, tree, &warnings);
  return warnings;
}

std::vector<Problem> find_refusals(const Profile& profile) {
  std::vector<Problem> warnings;
  for (const Device& device : profile.devices) {
    uint64_t refused = 0;
    for (const Refusal& refusal : device.refusals) refused = add_saturating(refused, refusal.count);
    if (refused != 0) warnings.push_back(device_was_full(device.name, refused));
  }
  return warnings;
}

}  // namespace heapprof::cli
