// cli/model/analysis/cpu_tensors.cc: see cpu_tensors.h.
#include "cli/model/analysis/cpu_tensors.h"

#include "cli/base/saturating.h"

#include <vector>

namespace heapprof::cli {

bool is_cpu_tensor_function(std::string_view function) {
  return function == "c10::alloc_cpu" || function.starts_with("c10::alloc_cpu(");
}

std::vector<char> find_cpu_tensor_nodes(const Profile& profile) {
  std::vector<char> asks(profile.frames.size());
  bool has_any = false;
  for (size_t i = 0; i < profile.frames.size(); ++i) {
    asks[i] = is_cpu_tensor_function(profile.frames[i].function) ? 1 : 0;
    has_any = has_any || asks[i] != 0;
  }
  if (!has_any) return {};
  std::vector<char> is_tensor(profile.nodes.size());
  for (size_t i = 1; i < profile.nodes.size(); ++i)
    is_tensor[i] = is_tensor[profile.nodes[i].parent] | asks[profile.nodes[i].frame];
  return is_tensor;
}

CpuTensors find_cpu_tensors(const Profile& profile) {
  CpuTensors tensors;
  const std::vector<char> is_tensor = find_cpu_tensor_nodes(profile);
  if (is_tensor.empty() || profile.devices.empty()) return tensors;
  for (const Site& site : profile.devices.front().sites) {
    if (is_tensor[site.node] == 0) continue;
    tensors.peak_bytes = add_saturating(tensors.peak_bytes, site.numbers.peak_bytes);
    tensors.leaked_bytes = add_saturating(tensors.leaked_bytes, site.numbers.leaked_bytes);
    tensors.total_blocks = add_saturating(tensors.total_blocks, site.numbers.total_blocks);
  }
  return tensors;
}

}  // namespace heapprof::cli
