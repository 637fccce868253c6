// agent/cuda/tensors.h: tensors inside of a CUDA device's memory, as PyTorch's allocator tells of them
// (hooks_tensors.cc).
#pragma once

namespace heapprof::agent {

// Forgets addresses whose objects may be gone: objects are being unloaded.
void forget_tensors();

}  // namespace heapprof::agent
