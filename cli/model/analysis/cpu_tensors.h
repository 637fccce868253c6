// cli/model/analysis/cpu_tensors.h: which blocks of the heap are PyTorch's tensors of the CPU.
//
// Such a tensor is a block of malloc's, and has counted as that: it is known by the function of libc10 that asked for
// it, and nothing of PyTorch's own profiler is needed.
//
// Guarantees
//  - A site counts if c10::alloc_cpu is in its stack, whoever called that.
// Trust:    names are strangers': any bytes.
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
// By node: whether c10::alloc_cpu is in its stack. Empty: it is in none.
std::vector<char> find_cpu_tensor_nodes(const Profile& profile);

}  // namespace heapprof::cli
