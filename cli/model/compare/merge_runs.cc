// cli/model/compare/merge_runs.cc: lists have a fixed order. A list that is cut keeps the largest entries, and all
// fields of an entry decide ties, so it keeps the same entries in any order of merges.
#include "cli/base/saturating.h"
#include "cli/model/compare/merge_parts.h"
#include "cli/model/profile/site_numbers.h"

#include <algorithm>
#include <array>
#include <tuple>

namespace heapprof::cli {
namespace {

constexpr size_t kMostThreads = 64;

void sort_and_unite(std::vector<std::string>* names) {
  std::sort(names->begin(), names->end());
  names->erase(std::unique(names->begin(), names->end()), names->end());
}

void add_names(std::vector<std::string>* names, const std::vector<std::string>& more) {
  names->insert(names->end(), more.begin(), more.end());
  sort_and_unite(names);
}

// Keeps the common value; clears it if the two differ.
template <typename Value>
void keep_equal(Value* sum, const Value& other) {
  if (*sum != other) *sum = Value();
}

constexpr std::array kNameLists = {
    &Coverage::self_test_failures, &Coverage::bypassing_modules,   &Coverage::unknown_functions,
    &Coverage::unread_modules,     &Coverage::unread_interpreters, &Coverage::unrecorded_operators,
    &Coverage::unrecorded_objects, &Coverage::inner_allocators,    &Coverage::unhooked_allocators};

void sum_unprofiled(std::vector<UnprofiledProgram>* programs) {
  const auto key = [](const UnprofiledProgram& program) { return std::tie(program.path, program.reason); };
  std::sort(programs->begin(), programs->end(),
            [&](const UnprofiledProgram& a, const UnprofiledProgram& b) { return key(a) < key(b); });
  std::vector<UnprofiledProgram> sums;
  for (UnprofiledProgram& program : *programs) {
    if (sums.empty() || key(sums.back()) != key(program)) {
      sums.push_back(std::move(program));
      continue;
    }
    add_to(&sums.back().count, program.count);
    sums.back().replaced_process = sums.back().replaced_process || program.replaced_process;
  }
  *programs = std::move(sums);
}

void add_coverage(const Coverage& from, Coverage* sum) {
  keep_equal(&sum->agent_version, from.agent_version);
  keep_equal(&sum->allocator, from.allocator);
  keep_equal(&sum->unwinder, from.unwinder);
  if (from.clock == "sequence" || sum->clock == "sequence") {
    sum->clock = "sequence";
  } else {
    keep_equal(&sum->clock, from.clock);
  }
  for (const auto list : kNameLists) add_names(&(sum->*list), from.*list);
  sum->unprofiled_programs.insert(sum->unprofiled_programs.end(), from.unprofiled_programs.begin(),
                                  from.unprofiled_programs.end());
  sum_unprofiled(&sum->unprofiled_programs);
  sum->new_recorded = sum->new_recorded || from.new_recorded;
}

void keep_equal_machine(Machine* sum, const Machine& other) {
  keep_equal(&sum->cpu, other.cpu);
  keep_equal(&sum->cores, other.cores);
  keep_equal(&sum->memory_bytes, other.memory_bytes);
  keep_equal(&sum->kernel, other.kernel);
  keep_equal(&sum->libc, other.libc);
}

// Keeps the common command. If the commands differ, keeps only the program name that comes first alphabetically.
void add_command(std::vector<std::string>* sum, const std::vector<std::string>& other) {
  if (*sum == other) return;
  if (sum->empty() || other.empty()) return sum->clear();
  *sum = {std::min(sum->front(), other.front())};
}

// Keeps the reason that comes first alphabetically; an empty reason comes last.
void add_reason(std::string* sum, const std::string& other) {
  if (sum->empty() || (!other.empty() && other < *sum)) *sum = other;
}

bool is_same_end(const RunEnd& a, const RunEnd& b) { return a.kind == b.kind && a.status == b.status; }

void add_thread(Thread* sum, const Thread& thread) {
  add_to(&sum->allocations, thread.allocations);
  add_to(&sum->total_bytes, thread.total_bytes);
  add_to(&sum->frees, thread.frees);
}

// Merges threads: the ones that allocated most are kept, the others summed. Threads are not united by id, because ids
// of different processes may be equal.
void add_threads(RunInfo* sum, const RunInfo& run) {
  sum->threads.insert(sum->threads.end(), run.threads.begin(), run.threads.end());
  add_to(&sum->other_threads_count, run.other_threads_count);
  add_thread(&sum->other_threads, run.other_threads);
  const auto key = [](const Thread& thread) {
    return std::tie(thread.total_bytes, thread.allocations, thread.frees, thread.name, thread.id);
  };
  std::sort(sum->threads.begin(), sum->threads.end(),
            [&](const Thread& a, const Thread& b) { return key(a) > key(b); });
  for (; sum->threads.size() > kMostThreads; sum->threads.pop_back()) {
    add_thread(&sum->other_threads, sum->threads.back());
    add_to(&sum->other_threads_count, 1);
  }
}

void add_counters(RunInfo* sum, const RunInfo& run) {
  const auto kSum = [](uint64_t* into, uint64_t value) { add_to(into, value); };
  const auto kLargest = [](uint64_t* into, uint64_t value) { *into = std::max(*into, value); };
#define RUN_COUNTER(member, ...) add_to(&sum->counters.member, run.counters.member);
#define UNWINDER_COUNTER(member, ...) add_to(&sum->unwinder.member, run.unwinder.member);
#define RUN_COST(member, key, adds) adds(&sum->cost.member, run.cost.member);
#include "cli/model/profile/run_counters.def"
#undef RUN_COST
#undef UNWINDER_COUNTER
#undef RUN_COUNTER
}

// A profile without sampling has its exact numbers in the totals. They are copied, so that a sum's exact numbers
// include it.
Sampling sampling_of(const Profile& profile) {
  Sampling sampling = profile.run.sampling;
  if (sampling.is_sampled()) return sampling;
  for (const Device& device : profile.devices) {
    if (device.name != "host") continue;
    sampling.counted = device.totals.total_blocks;
    sampling.counted_bytes = device.totals.total_bytes;
  }
  return sampling;
}

void add_sampling(const Sampling& sampling, Sampling* sum) {
  sum->interval_bytes = std::max(sum->interval_bytes, sampling.interval_bytes);
  add_to(&sum->chosen, sampling.chosen);
  add_to(&sum->counted, sampling.counted);
  add_to(&sum->counted_bytes, sampling.counted_bytes);
  sum->unrecorded_ns = std::max(sum->unrecorded_ns, sampling.unrecorded_ns);
}

// If leaks were classified in some of the runs only, the reason says that a part is missing.
void add_judgement(const LeakJudgement& judgement, LeakJudgement* sum) {
  constexpr const char* kSome = "some of the runs were not judged";
  if (judgement.is_made != sum->is_made) {
    sum->reason = kSome;
  } else {
    add_reason(&sum->reason, judgement.reason);
  }
  sum->is_asked = sum->is_asked || judgement.is_asked;
  sum->is_made = sum->is_made || judgement.is_made;
  add_to(&sum->searched_bytes, judgement.searched_bytes);
  add_to(&sum->unread_bytes, judgement.unread_bytes);
  add_to(&sum->stopped_threads, judgement.stopped_threads);
  add_to(&sum->duration_ns, judgement.duration_ns);
}

}  // namespace

void add_run(const AddedRun& added, RunInfo* into) {
  const Profile& from = added.profile;
  const RunInfo& run = from.run;
  RunInfo& sum = *into;
  // The reason of a sum already names the incomplete input.
  const std::string reason = run.complete          ? ""
                             : from.merged.empty() ? added.file + ": " + run.incomplete_reason
                                                   : run.incomplete_reason;
  if (added.is_first) {
    sum = run;
    sum.job = {};  // each part has its own
    sum.title.clear();
    sum.sampling = sampling_of(from);
    sum.threads.clear();
    sum.other_threads = {};
    sum.other_threads_count = 0;
    sum.processes.clear();  // the parts list them
    sum.other_processes_count = 0;
    sum.incomplete_reason = reason;
    for (const auto list : kNameLists) sort_and_unite(&(sum.coverage.*list));
    sum_unprofiled(&sum.coverage.unprofiled_programs);
    return add_threads(&sum, run);
  }
  add_threads(&sum, run);
  add_command(&sum.command, run.command);
  keep_equal(&sum.executable, run.executable);
  keep_equal(&sum.pid, run.pid);
  keep_equal(&sum.parent_pid, run.parent_pid);
  sum.image = 0;
  sum.is_fork = sum.is_fork && run.is_fork;
  sum.start_unix_ns = std::min(sum.start_unix_ns, run.start_unix_ns);
  sum.duration_ns = std::max(sum.duration_ns, run.duration_ns);
  if (!is_same_end(sum.end, run.end)) sum.end = {EndKind::kUnknown, 0};
  sum.complete = sum.complete && run.complete;
  add_reason(&sum.incomplete_reason, reason);
  keep_equal_machine(&sum.machine, run.machine);
  add_coverage(run.coverage, &sum.coverage);
  add_counters(&sum, run);
  add_sampling(sampling_of(from), &sum.sampling);
  add_judgement(run.leak_check, &sum.leak_check);
}

}  // namespace heapprof::cli
