// cli/model/compare/merge_profiles.cc: the trees of all profiles are put below one root, and canonicalize() merges
// stacks that read alike. It is called whenever the sum has doubled, so that a thousand ranks of one program need the
// memory of a few.
//
// Ranks are merged on many machines, in trees of merges and in an arbitrary order, and the result must not depend on
// that order. So two values are never combined into "the first", but into their sum, the smaller, the larger, or
// nothing if they differ. merge_runs.cc does the same for facts about a run.
#include "cli/model/compare/merge_profiles.h"

#include "cli/base/file_name.h"
#include "cli/base/problems.h"
#include "cli/base/saturating.h"
#include "cli/model/compare/merge_parts.h"
#include "cli/model/profile/canonical.h"
#include "cli/model/profile/fields.h"
#include "cli/model/profile/site_numbers.h"

#include <algorithm>
#include <numeric>
#include <string_view>
#include <tuple>
#include <utility>

namespace heapprof::cli {
namespace {

constexpr size_t kNodesBetween = 200'000;

void add_totals(DeviceTotals* sum, const DeviceTotals& totals) {
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

// "cuda:0" of two processes may be two GPUs.
void keep_common(DeviceIdentity* sum, const DeviceIdentity& other) {
  if (sum->uuid != other.uuid) sum->uuid.clear();
  if (sum->pci_id != other.pci_id) sum->pci_id.clear();
  if (sum->product != other.product) sum->product.clear();
  if (sum->memory_bytes != other.memory_bytes) sum->memory_bytes = 0;
}

// The peak of one process; in a sum, that of the process with the largest peak.
uint64_t largest_peak(const Profile& profile, const Device& device) {
  if (profile.merged.empty()) return device.totals.peak_bytes;
  uint64_t largest = 0;
  for (const MergedPart& part : profile.merged) {
    if (part.device == device.name) largest = std::max(largest, part.peak_bytes);
  }
  return largest;
}

// All facts about an input besides its memory by site; defines the order of inputs: ranks first, by number.
auto key_of(const MergedPart& part) {
  return std::tuple(
      part.job.rank.value_or(UINT64_MAX), part.job.is_child, std::tie(part.job.host, part.file, part.pid),
      std::tie(part.image, part.start_unix_ns, part.command, part.duration_ns, part.end.kind, part.end.status,
               part.complete),
      std::tie(part.device, part.peak_bytes, part.peak_ns, part.leaked_bytes, part.total_bytes, part.total_blocks),
      std::tie(part.job.launcher, part.job.ranks, part.job.local_rank, part.job.local_device));
}

bool is_before(const std::vector<MergedPart>& a, const std::vector<MergedPart>& b) {
  return std::lexicographical_compare(
      a.begin(), a.end(), b.begin(), b.end(),
      [](const MergedPart& left, const MergedPart& right) { return key_of(left) < key_of(right); });
}

// The host first, cuda:2 before cuda:10.
bool is_device_before(const std::string& a, const std::string& b) {
  return std::tuple(a != "host", a.size(), std::string_view(a)) <
         std::tuple(b != "host", b.size(), std::string_view(b));
}

std::string identity_of(const ProfileModule& module) { return base_name(module.path) + '\0' + module.build_id; }

// Merges modules of a profile that have the same file name and build id under several paths, as find_module() does in
// the sum. So the profile's sites are merged before they are compared with those of other profiles.
void unite_modules(Profile* profile) {
  std::map<std::string, uint32_t> known;
  std::vector<uint32_t> number;
  bool has_equal = false;
  for (uint32_t i = 0; i < profile->modules.size(); ++i) {
    const auto [entry, is_new] = known.try_emplace(identity_of(profile->modules[i]), i);
    number.push_back(entry->second);
    if (is_new) continue;
    has_equal = true;
    std::string& path = profile->modules[entry->second].path;
    path = std::min(path, profile->modules[i].path);
  }
  if (!has_equal) return;
  for (Frame& frame : profile->frames) {
    if (frame.module < number.size()) frame.module = number[frame.module];
  }
  canonicalize(profile);
}

}  // namespace

uint32_t ProfileMerger::find_module(const ProfileModule& module) {
  const auto [entry, is_new] =
      module_of_identity_.try_emplace(identity_of(module), static_cast<uint32_t>(sum_.modules.size()));
  if (is_new) {
    sum_.modules.push_back(module);
  } else {
    std::string& path = sum_.modules[entry->second].path;
    path = std::min(path, module.path);
  }
  return entry->second;
}

void ProfileMerger::add_tree(Profile* from, uint32_t first_input) {
  std::vector<uint32_t> module_number;
  for (const ProfileModule& module : from->modules) module_number.push_back(find_module(module));
  const auto first_frame = static_cast<uint32_t>(sum_.frames.size());
  for (Frame& frame : from->frames) {
    frame.module = frame.module < module_number.size() ? module_number[frame.module] : kNoModule;
    sum_.frames.push_back(std::move(frame));
  }
  if (sum_.nodes.empty()) sum_.nodes.emplace_back();
  // Node i becomes first_node + i − 1; the root does not change.
  const auto first_node = static_cast<uint32_t>(sum_.nodes.size());
  for (size_t i = 1; i < from->nodes.size(); ++i) {
    const FrameNode& node = from->nodes[i];
    sum_.nodes.push_back({node.parent == 0 ? 0 : first_node + node.parent - 1, first_frame + node.frame});
  }
  add_devices(from, {first_node, first_input});
}

void ProfileMerger::add_devices(Profile* from, Offsets offsets) {
  const auto [first_node, first_input] = offsets;
  for_each_other_node(*from, [first = first_node](uint32_t& node) { node = node == 0 ? 0 : first + node - 1; });
  add_scopes(from->scopes, &sum_.scopes);
  DeviceApi& api = sum_.api;
  api.kernel_launches = add_saturating(api.kernel_launches, from->api.kernel_launches);
  api.calls.insert(api.calls.end(), from->api.calls.begin(), from->api.calls.end());
  api.threads.insert(api.threads.end(), from->api.threads.begin(), from->api.threads.end());
  const bool is_sum = !from->merged.empty();
  for (Device& device : from->devices) {
    auto same = std::find_if(sum_.devices.begin(), sum_.devices.end(),
                             [&](const Device& known) { return known.name == device.name; });
    const bool is_new = same == sum_.devices.end();
    if (is_new) {
      sum_.devices.emplace_back().name = device.name;
      same = std::prev(sum_.devices.end());
      same->identity = device.identity;
      same->limit_bytes = device.limit_bytes;
    }
    PeakMoment& moment = moments_[device.name];
    const PeakMoment other = {largest_peak(*from, device), device.totals.peak_ns, device.totals.max_blocks_ns};
    const auto order = [](const PeakMoment& it) {
      return std::tuple(UINT64_MAX - it.peak_bytes, it.peak_ns, it.max_blocks_ns);
    };
    if (is_new || order(other) < order(moment)) moment = other;
    add_totals(&same->totals, device.totals);
    same->totals.peak_ns = moment.peak_ns;
    same->totals.max_blocks_ns = moment.max_blocks_ns;
    for (Site& site : device.sites) {
      if (site.node != 0) site.node = first_node + site.node - 1;
      site.live_bytes.clear();  // the devices of other profiles have other moments
      site.steps.clear();
      site.stays.clear();
      if (!is_sum && site.grouped_stacks == 0) site.spread = {spread_of_one(site.numbers, 0)};
      for (SiteSpread& spread : site.spread) {
        for (NumberSpread& number : spread.of) number.max_input += first_input;
      }
      same->sites.push_back(std::move(site));
    }
    same->refusals.insert(same->refusals.end(), device.refusals.begin(), device.refusals.end());
    same->lost_owners.insert(same->lost_owners.end(), device.lost_owners.begin(), device.lost_owners.end());
    same->held_by.insert(same->held_by.end(), device.held_by.begin(), device.held_by.end());
    add_unseen(&same->unseen, device.unseen);
    same->names.insert(same->names.end(), device.names.begin(), device.names.end());
    keep_common(&same->identity, device.identity);
    add_held(&same->held, device.held);
    add_use(&same->use, device.use);
    if (same->limit_bytes != device.limit_bytes) same->limit_bytes = 0;  // no common limit
  }
}

void ProfileMerger::add_inputs(const Profile& from, const std::string& file) {
  if (!from.merged.empty()) {
    uint32_t last = UINT32_MAX;
    for (const MergedPart& part : from.merged) {
      if (part.input != last) inputs_.emplace_back();
      last = part.input;
      inputs_.back().push_back(part);
    }
    return;
  }
  Input& input = inputs_.emplace_back();
  for (const Device& device : from.devices) {
    MergedPart& part = input.emplace_back();
    const DeviceTotals& totals = device.totals;
    part.file = base_name(file);
    part.command = from.run.command;
    part.pid = from.run.pid;
    part.image = from.run.image;
    part.start_unix_ns = from.run.start_unix_ns;
    part.job = from.run.job;
    part.end = from.run.end;
    part.duration_ns = from.run.duration_ns;
    part.complete = from.run.complete;
    part.device = device.name;
    part.peak_bytes = totals.peak_bytes;
    part.peak_ns = totals.peak_ns;
    part.leaked_bytes = totals.leaked_bytes;
    part.total_bytes = totals.total_bytes;
    part.total_blocks = totals.total_blocks;
  }
  std::vector<std::vector<PartRow>> rows = find_largest_places(from);
  for (size_t i = 0; i < input.size(); ++i) input[i].rows = std::move(rows[i]);
  std::sort(input.begin(), input.end(),
            [](const MergedPart& a, const MergedPart& b) { return is_device_before(a.device, b.device); });
}

// Orders modules by their identity, because a further merge may change a module's path but not its identity.
void ProfileMerger::order_modules() {
  std::vector<ProfileModule> modules;
  std::vector<uint32_t> number(sum_.modules.size());
  for (auto& [identity, at] : module_of_identity_) {
    number[at] = static_cast<uint32_t>(modules.size());
    modules.push_back(std::move(sum_.modules[at]));
    at = number[at];
  }
  sum_.modules = std::move(modules);
  for (Frame& frame : sum_.frames) {
    if (frame.module < number.size()) frame.module = number[frame.module];
  }
}

// Orders the inputs before sites are summed. So if several processes have the same maximum, the first of them does not
// depend on the order of merges.
void ProfileMerger::order_inputs() {
  std::vector<uint32_t> order(inputs_.size());
  std::iota(order.begin(), order.end(), 0u);
  std::stable_sort(order.begin(), order.end(),
                   [this](uint32_t a, uint32_t b) { return is_before(inputs_[a], inputs_[b]); });
  std::vector<uint32_t> number(order.size());
  std::vector<Input> sorted;
  for (uint32_t i = 0; i < order.size(); ++i) {
    number[order[i]] = i;
    sorted.push_back(std::move(inputs_[order[i]]));
  }
  inputs_ = std::move(sorted);
  for (Device& device : sum_.devices) {
    for (Site& site : device.sites) {
      for (SiteSpread& spread : site.spread) {
        for (NumberSpread& number_spread : spread.of) number_spread.max_input = number[number_spread.max_input];
      }
    }
  }
}

void ProfileMerger::settle() {
  order_modules();
  order_inputs();
  canonicalize(&sum_);
  canonical_nodes_ = sum_.nodes.size();
}

Result<Done> ProfileMerger::add(Profile profile, const std::string& file) {
  if (added_ == 0) {
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
  if (profile.merged.empty()) unite_modules(&profile);
  add_run({profile, base_name(file), added_ == 0}, &sum_.run);
  const auto first_input = static_cast<uint32_t>(inputs_.size());
  add_inputs(profile, file);  // needs the profile's tree, which add_tree() moves
  add_tree(&profile, first_input);
  ++added_;
  if (sum_.nodes.size() > 2 * canonical_nodes_ + kNodesBetween) settle();
  return Done{};
}

Profile ProfileMerger::take() {
  std::sort(sum_.devices.begin(), sum_.devices.end(),
            [](const Device& a, const Device& b) { return is_device_before(a.name, b.name); });
  settle();
  for (uint32_t i = 0; i < inputs_.size(); ++i) {
    for (MergedPart& part : inputs_[i]) {
      part.input = i;
      sum_.merged.push_back(std::move(part));
    }
  }
  inputs_.clear();
  if (sum_.has_coarse_sizes) coarsen_sizes(&sum_);
  return std::move(sum_);
}

}  // namespace heapprof::cli
