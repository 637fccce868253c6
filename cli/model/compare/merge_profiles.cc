// cli/model/compare/merge_profiles.cc: trees are put side by side below one root, and canonicalize makes one of what
// reads alike; it is called whenever the sum has doubled, so that a thousand ranks of one program need the memory of
// few.
#include "cli/model/compare/merge_profiles.h"

#include "cli/base/file_name.h"
#include "cli/base/median.h"
#include "cli/base/problems.h"
#include "cli/model/profile/canonical.h"
#include "cli/model/profile/fields.h"
#include "cli/model/profile/site_numbers.h"

#include <algorithm>

namespace heapprof::cli {
namespace {

constexpr size_t kMostThreads = 64;
constexpr size_t kNodesBetween = 200'000;

void add_to(uint64_t* sum, uint64_t value) { *sum = add_saturating(*sum, value); }

void add_names(std::vector<std::string>* names, const std::vector<std::string>& more) {
  for (const std::string& name : more) {
    if (std::find(names->begin(), names->end(), name) == names->end()) names->push_back(name);
  }
}

bool is_same_end(const RunEnd& a, const RunEnd& b) { return a.kind == b.kind && a.status == b.status; }

void add_thread(Thread* sum, const Thread& thread) {
  add_to(&sum->allocations, thread.allocations);
  add_to(&sum->total_bytes, thread.total_bytes);
  add_to(&sum->frees, thread.frees);
}

// Merges threads. Those that allocated most are kept by name; ids of different processes may be alike.
void add_threads(RunInfo* sum, const RunInfo& run) {
  sum->threads.insert(sum->threads.end(), run.threads.begin(), run.threads.end());
  add_to(&sum->other_threads_count, run.other_threads_count);
  add_thread(&sum->other_threads, run.other_threads);
  std::stable_sort(sum->threads.begin(), sum->threads.end(),
                   [](const Thread& a, const Thread& b) { return a.total_bytes > b.total_bytes; });
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

// Where some of the runs were judged and others not, what is judged is a part.
void add_judgement(const LeakJudgement& judgement, LeakJudgement* sum) {
  if (judgement.is_made != sum->is_made) sum->reason = "some of the runs were not judged";
  sum->is_asked = sum->is_asked || judgement.is_asked;
  sum->is_made = sum->is_made || judgement.is_made;
  add_to(&sum->searched_bytes, judgement.searched_bytes);
  add_to(&sum->unread_bytes, judgement.unread_bytes);
  add_to(&sum->stopped_threads, judgement.stopped_threads);
  add_to(&sum->duration_ns, judgement.duration_ns);
}

void add_totals(DeviceTotals* sum, const DeviceTotals& totals, bool is_largest) {
  if (is_largest) {
    sum->peak_ns = totals.peak_ns;
    sum->max_blocks_ns = totals.max_blocks_ns;
  }
  add_to(&sum->total_bytes, totals.total_bytes);
  add_to(&sum->total_blocks, totals.total_blocks);
  add_to(&sum->peak_bytes, totals.peak_bytes);
  add_to(&sum->peak_blocks, totals.peak_blocks);
  add_to(&sum->max_blocks, totals.max_blocks);
  add_to(&sum->leaked_bytes, totals.leaked_bytes);
  add_to(&sum->leaked_blocks, totals.leaked_blocks);
  add_to(&sum->temporary_blocks, totals.temporary_blocks);
  add_to(&sum->resident_at_peak_bytes, totals.resident_at_peak_bytes);
  add_to(&sum->resident_max_bytes, totals.resident_max_bytes);
  add_to(&sum->live_at_resident_max_bytes, totals.live_at_resident_max_bytes);
  add_to(&sum->mapped_at_resident_max_bytes, totals.mapped_at_resident_max_bytes);
}

// "cuda:0" of two processes may be two cards.
void keep_common(DeviceIdentity* sum, const DeviceIdentity& other) {
  if (sum->uuid != other.uuid) sum->uuid.clear();
  if (sum->pci_id != other.pci_id) sum->pci_id.clear();
  if (sum->product != other.product) sum->product.clear();
  if (sum->memory_bytes != other.memory_bytes) sum->memory_bytes = 0;
}

uint64_t largest_part(const Profile& profile, const std::string& device) {
  uint64_t largest = 0;
  for (const MergedPart& part : profile.merged) {
    if (part.device == device) largest = std::max(largest, part.peak_bytes);
  }
  return largest;
}

}  // namespace

uint32_t ProfileMerger::find_module(const ProfileModule& module) {
  for (uint32_t i = 0; i < sum_.modules.size(); ++i) {
    const ProfileModule& known = sum_.modules[i];
    if (known.build_id == module.build_id && base_name(known.path) == base_name(module.path)) return i;
  }
  sum_.modules.push_back(module);
  return static_cast<uint32_t>(sum_.modules.size() - 1);
}

void ProfileMerger::add_tree(Profile* from) {
  std::vector<uint32_t> module_number;
  for (const ProfileModule& module : from->modules) module_number.push_back(find_module(module));
  const auto first_frame = static_cast<uint32_t>(sum_.frames.size());
  for (Frame& frame : from->frames) {
    frame.module = frame.module < module_number.size() ? module_number[frame.module] : kNoModule;
    sum_.frames.push_back(std::move(frame));
  }
  if (sum_.nodes.empty()) sum_.nodes.emplace_back();
  // Node i becomes first + i − 1, and the root stays the root.
  const auto first_node = static_cast<uint32_t>(sum_.nodes.size());
  for (size_t i = 1; i < from->nodes.size(); ++i) {
    const FrameNode& node = from->nodes[i];
    sum_.nodes.push_back({node.parent == 0 ? 0 : first_node + node.parent - 1, first_frame + node.frame});
  }
  add_devices(from, first_node);
}

void ProfileMerger::add_devices(Profile* from, uint32_t first_node) {
  for_each_other_node(*from, [first_node](uint32_t& node) { node = node == 0 ? 0 : first_node + node - 1; });
  add_scopes(from->scopes, &sum_.scopes);
  DeviceApi& api = sum_.api;
  api.kernel_launches = add_saturating(api.kernel_launches, from->api.kernel_launches);
  api.calls.insert(api.calls.end(), from->api.calls.begin(), from->api.calls.end());
  api.threads.insert(api.threads.end(), from->api.threads.begin(), from->api.threads.end());
  for (Device& device : from->devices) {
    auto same = std::find_if(sum_.devices.begin(), sum_.devices.end(),
                             [&](const Device& known) { return known.name == device.name; });
    if (same == sum_.devices.end()) {
      sum_.devices.emplace_back().name = device.name;
      same = std::prev(sum_.devices.end());
      same->identity = device.identity;
    }
    const uint64_t largest = largest_part(*from, device.name);
    add_totals(&same->totals, device.totals,
               (from->merged.empty() ? device.totals.peak_bytes : largest) > largest_part(sum_, device.name) ||
                   same->totals.total_blocks == 0);
    for (Site& site : device.sites) {
      if (site.node != 0) site.node = first_node + site.node - 1;
      site.live_bytes.clear();  // of moments that are not the others'
      site.steps.clear();
      site.stays.clear();
      same->sites.push_back(std::move(site));
    }
    same->refusals.insert(same->refusals.end(), device.refusals.begin(), device.refusals.end());
    add_unseen(&same->unseen, device.unseen);
    same->names.insert(same->names.end(), device.names.begin(), device.names.end());
    keep_common(&same->identity, device.identity);
    add_held(&same->held, device.held);
    add_use(&same->use, device.use);
    if (same->limit_bytes != device.limit_bytes) same->limit_bytes = 0;  // there is none for all of them
  }
}

void ProfileMerger::add_run(const RunInfo& run, const std::string& file) {
  RunInfo& sum = sum_.run;
  if (inputs_ == 0) {
    sum = run;
    sum.threads.clear();
    sum.other_threads = {};
    sum.other_threads_count = 0;
    sum.processes.clear();  // the parts are named
    sum.other_processes_count = 0;
    if (!run.complete) sum.incomplete_reason = base_name(file) + ": " + run.incomplete_reason;
    return add_threads(&sum, run);
  }
  add_threads(&sum, run);
  is_same_command_ = is_same_command_ && sum.command == run.command;
  if (!is_same_command_ && !sum.command.empty()) sum.command.resize(1);  // of different programs, the first one's
  if (sum.executable != run.executable) sum.executable.clear();
  if (sum.pid != run.pid) sum.pid = 0;
  if (sum.parent_pid != run.parent_pid) sum.parent_pid = 0;
  sum.image = 0;
  sum.is_fork = sum.is_fork && run.is_fork;
  sum.start_unix_ns = std::min(sum.start_unix_ns, run.start_unix_ns);
  sum.duration_ns = std::max(sum.duration_ns, run.duration_ns);
  if (!is_same_end(sum.end, run.end)) sum.end = {EndKind::kUnknown, 0};
  if (sum.complete && !run.complete) {
    sum.complete = false;
    sum.incomplete_reason = base_name(file) + ": " + run.incomplete_reason;
  }
  Coverage& coverage = sum.coverage;
  add_names(&coverage.self_test_failures, run.coverage.self_test_failures);
  add_names(&coverage.bypassing_modules, run.coverage.bypassing_modules);
  add_names(&coverage.unknown_functions, run.coverage.unknown_functions);
  add_names(&coverage.unread_interpreters, run.coverage.unread_interpreters);
  add_names(&coverage.unrecorded_objects, run.coverage.unrecorded_objects);
  add_names(&coverage.unrecorded_operators, run.coverage.unrecorded_operators);
  for (const UnprofiledProgram& program : run.coverage.unprofiled_programs)
    coverage.unprofiled_programs.push_back(program);
  coverage.new_recorded = coverage.new_recorded || run.coverage.new_recorded;
  if (run.coverage.clock == "sequence") coverage.clock = run.coverage.clock;
  add_counters(&sum, run);
  add_judgement(run.leak_check, &sum.leak_check);
}

void ProfileMerger::add_parts(const Profile& from, const std::string& file) {
  uint32_t first_input = sum_.merged.empty() ? 0 : sum_.merged.back().input + 1;
  for (MergedPart part : from.merged) {
    part.input += first_input;
    sum_.merged.push_back(std::move(part));
  }
  if (!from.merged.empty()) return;
  for (const Device& device : from.devices) {
    const DeviceTotals& totals = device.totals;
    sum_.merged.push_back({first_input, base_name(file), from.run.command, from.run.pid, from.run.end,
                           from.run.duration_ns, from.run.complete, device.name, totals.peak_bytes, totals.peak_ns,
                           totals.leaked_bytes, totals.total_bytes, totals.total_blocks});
  }
}

Result<Done> ProfileMerger::add(Profile profile, const std::string& file) {
  if (inputs_ == 0) {
    first_file_ = file;
    sum_.dialect = profile.dialect;
    sum_.has_lifetimes = profile.has_lifetimes;
    sum_.time_unit = profile.time_unit;
  } else if (sum_.dialect != profile.dialect) {
    return profiles_do_not_add(first_file_, file,
                               "the first is of " + std::string(dialect_name(sum_.dialect)) + ", the other of " +
                                   std::string(dialect_name(profile.dialect)) + ", and they do not count the same");
  } else if (sum_.time_unit != profile.time_unit) {
    return profiles_do_not_add(first_file_, file, "times are in " + sum_.time_unit + " and in " + profile.time_unit);
  } else if (sum_.has_lifetimes != profile.has_lifetimes) {
    return profiles_do_not_add(first_file_, file, "only one of them knows what was live at the peak and at the end");
  }
  sum_.has_coarse_sizes = sum_.has_coarse_sizes || profile.has_coarse_sizes;
  add_run(profile.run, file);
  add_tree(&profile);
  add_parts(profile, file);
  ++inputs_;
  if (sum_.nodes.size() > 2 * canonical_nodes_ + kNodesBetween) {
    canonicalize(&sum_);
    canonical_nodes_ = sum_.nodes.size();
  }
  return Done{};
}

Profile ProfileMerger::take() {
  canonicalize(&sum_);
  if (sum_.has_coarse_sizes) coarsen_sizes(&sum_);
  return std::move(sum_);
}

PeakSpread find_peak_spread(const Profile& profile, const std::string& device) {
  PeakSpread spread;
  std::vector<const MergedPart*> parts;
  for (const MergedPart& part : profile.merged) {
    if (part.device == device) parts.push_back(&part);
  }
  spread.parts = parts.size();
  if (parts.empty()) return spread;
  std::stable_sort(parts.begin(), parts.end(),
                   [](const MergedPart* a, const MergedPart* b) { return a->peak_bytes < b->peak_bytes; });
  std::vector<uint64_t> peaks;
  for (const MergedPart* part : parts) peaks.push_back(part->peak_bytes);
  spread.smallest_bytes = parts.front()->peak_bytes;
  spread.largest_bytes = parts.back()->peak_bytes;
  spread.median_bytes = median(std::move(peaks));
  spread.largest = *std::find_if(parts.begin(), parts.end(),
                                 [&](const MergedPart* part) { return part->peak_bytes == spread.largest_bytes; });
  const auto distance = [&](const MergedPart* part) {
    return std::max(part->peak_bytes, spread.median_bytes) - std::min(part->peak_bytes, spread.median_bytes);
  };
  bool has_other = false;
  for (const MergedPart* part : parts) {
    if (parts.size() > 2 && distance(part) > spread.median_bytes / 4) {
      spread.outliers.push_back(part);
      continue;
    }
    if (!has_other) spread.smallest_other_bytes = part->peak_bytes;
    spread.largest_other_bytes = part->peak_bytes;
    has_other = true;
  }
  std::stable_sort(spread.outliers.begin(), spread.outliers.end(),
                   [&](const MergedPart* a, const MergedPart* b) { return distance(a) > distance(b); });
  return spread;
}

}  // namespace heapprof::cli
