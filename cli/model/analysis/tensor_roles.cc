// cli/model/analysis/tensor_roles.cc: on the host a tensor is identified by its stack, on a CUDA device by its device.
#include "cli/model/analysis/tensor_roles.h"

#include "cli/base/saturating.h"
#include "cli/model/analysis/cpu_tensors.h"

#include <algorithm>

namespace heapprof::cli {

namespace {

constexpr std::string_view kInner = "/tensors";

bool has_tensors_alone(const std::string& device) { return device.ends_with(kInner); }

}  // namespace

std::vector<TensorRoles> find_tensor_roles(const Profile& profile, uint32_t snapshot) {
  const std::vector<char> is_of_cpu = find_cpu_tensor_nodes(profile);
  std::vector<TensorRoles> all;
  for (const Device& device : profile.devices) {
    const auto told = std::find_if(profile.snapshots.snapshots[snapshot].tensors.begin(),
                                   profile.snapshots.snapshots[snapshot].tensors.end(),
                                   [&device](const SnapshotTensors& it) { return it.device == device.name; });
    if (told == profile.snapshots.snapshots[snapshot].tensors.end()) continue;
    TensorRoles& roles = all.emplace_back();
    roles.told = &*told;
    const bool is_all = has_tensors_alone(device.name);
    const auto is_tensor = [&](uint32_t node) { return is_all || (!is_of_cpu.empty() && is_of_cpu[node] != 0); };
    uint64_t of_rest_bytes = 0, of_rest_blocks = 0;
    for (const TensorSite& site : told->sites) {
      const auto at = std::find_if(roles.roles.begin(), roles.roles.end(),
                                   [&site](const RoleSum& sum) { return sum.role == site.role; });
      RoleSum& sum = at == roles.roles.end() ? roles.roles.emplace_back(RoleSum{site.role, 0, 0}) : *at;
      sum.bytes = add_saturating(sum.bytes, site.live_bytes);
      sum.blocks = add_saturating(sum.blocks, site.live_blocks);
      roles.told_bytes = add_saturating(roles.told_bytes, site.live_bytes);
      if (!is_tensor(site.node)) continue;
      of_rest_bytes = add_saturating(of_rest_bytes, site.live_bytes);
      of_rest_blocks = add_saturating(of_rest_blocks, site.live_blocks);
    }
    LiveAmount live;
    for (const Site& site : device.sites) {
      if (!is_tensor(site.node)) continue;
      const LiveAmount amount = amount_at(site.steps, snapshot);
      live = {add_saturating(live.bytes, amount.bytes), add_saturating(live.blocks, amount.blocks)};
    }
    roles.rest_bytes = rest_of(live.bytes, of_rest_bytes);
    roles.rest_blocks = rest_of(live.blocks, of_rest_blocks);
    std::stable_sort(roles.roles.begin(), roles.roles.end(),
                     [](const RoleSum& a, const RoleSum& b) { return a.bytes > b.bytes; });
  }
  return all;
}

}  // namespace heapprof::cli
