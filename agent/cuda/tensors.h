// agent/cuda/tensors.h: tensors inside a CUDA device's memory, as PyTorch's allocator reports them (hooks_tensors.cc).
#pragma once

namespace heapprof::agent {

// Call when objects are being unloaded: forgets addresses whose objects may be gone.
void forget_tensors();

}  // namespace heapprof::agent
