// cli/model/analysis/cpu_tensors.h: which blocks of the heap are PyTorch's CPU tensors.
//
// Such a tensor is a malloc block and already counted as one. The libc10 function that allocated it identifies it, so
// PyTorch's own profiler is not needed.
//
// Guarantees
//  - A site counts if c10::alloc_cpu is in its stack, with any caller.
// Trust:    names are untrusted: any bytes.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace heapprof::cli {

bool is_cpu_tensor_function(std::string_view function);

struct CpuTensors {
  uint64_t peak_bytes = 0;  // of the host, at its peak
  uint64_t leaked_bytes = 0;
  uint64_t total_blocks = 0;
};

CpuTensors find_cpu_tensors(const Profile& profile);
// For each node: whether c10::alloc_cpu is in its stack. Empty if it is in no stack.
std::vector<char> find_cpu_tensor_nodes(const Profile& profile);

}  // namespace heapprof::cli
