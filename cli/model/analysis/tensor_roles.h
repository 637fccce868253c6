// cli/model/analysis/tensor_roles.h: sums a snapshot's tensors by device and role, and the memory of tensors that the
// program did not report (heapprof.snapshot(tensors=True)).
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

struct RoleSum {
  std::string role;
  uint64_t bytes = 0;
  uint64_t blocks = 0;
};

struct TensorRoles {
  const SnapshotTensors* told = nullptr;
  std::vector<RoleSum> roles;  // the most bytes first
  uint64_t told_bytes = 0;
  // Tensors that were not reported, because Python does not know them. This is what is live on cuda:N/tensors, or on
  // the host in blocks that c10::alloc_cpu allocated, less the reported tensors.
  uint64_t rest_bytes = 0;
  uint64_t rest_blocks = 0;
};

// In the order of the profile's devices. pre: the profile has that snapshot
std::vector<TensorRoles> find_tensor_roles(const Profile& profile, uint32_t snapshot);

}  // namespace heapprof::cli
