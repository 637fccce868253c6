// agent/cuda/runtime.h: the functions of a shared CUDA runtime, for memory that it does not get through the driver's
// hooked functions.
//
// If a runtime calls the driver's hooked functions, its memory is counted there. The memory of another runtime (a
// replacement, an unknown route) is counted here: if a call succeeds, and this thread made no hooked driver call in it,
// the call counts as an allocation itself.
//
// Guarantees
//  - Nothing is counted both here and at the driver, nor twice by a call of the runtime inside another
//    (tests/integration/cuda/cuda_replaced.sh).
//  - A release seen here ends only what was counted here.
//  - The names are exported only with the runtime's versions, and hidden: code that was not linked with a shared
//    runtime does not find them, nor do its weak references or dlsym.
// Not provided: runtimes before CUDA 11 except by dlsym, a second one found by dlsym, two copies of one version,
//               cudaDeviceReset, `--limit`.
// Context:  any thread; not in signal handlers.
// Cost:     two loads and a comparison a call.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace heapprof::agent {

struct CudaPitched {  // cudaPitchedPtr
  void* block;
  size_t pitch_bytes;
  size_t width_bytes;
  size_t height;
};
struct CudaExtent {  // cudaExtent
  size_t width_bytes;
  size_t height;
  size_t depth;
};

// How many allocating or freeing driver calls this thread has made so far. It may wrap.
extern constinit thread_local uint32_t t_driver_calls __attribute__((tls_model("initial-exec")));

// The wrapper for what dlsym found; `found` itself if it has no wrapper.
void* wrap_runtime(const char* name, void* found);
bool is_runtime_function(const char* name);

// Call when objects are being unloaded: forgets addresses whose objects may be gone.
void forget_cuda_runtime();

}  // namespace heapprof::agent
