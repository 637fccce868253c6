// agent/cuda/runtime.h: the functions of a shared CUDA runtime, for what it gets from elsewhere than the driver's
// hooked functions.
//
// A runtime that calls the driver is seen there. One that does not (a replacement, a route that is not known yet) is
// counted here: a call that succeeds, and in which this thread made no call of the driver that was seen, is an
// allocation by itself.
//
// Guarantees
//  - Nothing is counted both here and at the driver, nor twice by a call of the runtime inside another
//    (tests/integration/cuda/cuda_replaced.sh).
//  - A release that is seen here ends only what was counted here.
//  - The names are exported with the runtime's versions only, and hidden: what was not linked with a shared runtime,
//    weak references too, does not find them, nor does dlsym.
// Not provided: runtimes before CUDA 11 but by dlsym, a second one found by dlsym, two copies of one version,
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

// How many calls of the driver that allocate or free this thread has made so far. It may wrap.
extern constinit thread_local uint32_t t_driver_calls __attribute__((tls_model("initial-exec")));

// The wrapper of what dlsym found, or `found` itself if it has none.
void* wrap_runtime(const char* name, void* found);
bool is_runtime_function(const char* name);

// Forgets addresses whose objects may be gone: objects are being unloaded.
void forget_cuda_runtime();

}  // namespace heapprof::agent
