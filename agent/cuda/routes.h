// agent/cuda/routes.h: the routes to the CUDA driver's entry points, and the wrappers on all of them (hooks_*.cc).
//
//   -lcuda                         the exported names, as the loader binds them
//   dlopen and dlsym, ctypes,      dlsym, which returns a wrapper if the real look-up finds a hooked function;
//   cuFFT, runtimes before 11.3    every other call is tail-called with its caller's return address
//   static and shared cudart       cuGetProcAddress, which the runtime calls for each function
//
// Guarantees
//  - dlsym finds no name that it would not find without the agent (tests/integration/cuda/cuda_routes.sh: absent,
//    local). Weak references find the agent's: agent/README.md.
//  - Results, error codes and out-parameters are the driver's. A wrapper passes through what it does not know.
//  - Another library's function of the same name, before the driver or in the program, is not replaced: what it finally
//    calls is counted once.
//  - cuGetExportTable is not touched.
// Context:  any thread; nothing is looked up before a program looks up a name that begins with "cu".
// Cost:     two comparisons in dlsym; 0.1 µs a hooked driver call, 0.15 µs one that allocates from or frees to a pool
//           (of the thread's processor time, with the fake driver of tests/fake_cuda).
#pragma once

#include "agent/cuda/driver.h"

#include <stddef.h>
#include <stdint.h>

using heapprof::agent::CudaAllocationNode;
using heapprof::agent::CudaAllocationProperties;
using heapprof::agent::CudaArray2d;
using heapprof::agent::CudaArray3d;
using heapprof::agent::CudaBatchCopy3d;
using heapprof::agent::CudaCopy2d;
using heapprof::agent::CudaCopy3d;
using heapprof::agent::CudaExternalBuffer;
using heapprof::agent::CudaExternalMemory;
using heapprof::agent::CudaIpcHandle;
using heapprof::agent::CudaLaunchConfiguration;
using heapprof::agent::CudaNode;

// The wrappers.
extern "C" {
#define X(symbol, base, version, per_thread, params) int symbol params;
#include "agent/cuda/functions.def"
#undef X
// Hidden names of the wrappers: they name the wrappers even if the program defines functions with the public names.
#define X(symbol, base, version, per_thread, params) int heapprof_##symbol params;
#include "agent/cuda/functions.def"
#undef X
}

namespace heapprof::agent {

// What a look-up found, compared with the hooked function of that name and version.
struct FoundFunction {
  enum class Kind {
    kUnhooked,  // no hooked function has that name
    kForeign,   // another library's function, which itself calls a wrapper
    kHooked,    // the driver's function, with a known ABI
    kNewer,     // the driver's function, for a newer version than is known: its ABI may differ
  };
  Kind kind;
  void* wrapper;
  int version;  // the CUDA version that introduced its ABI
};
// giver: the cuGetProcAddress that found it. The driver may find its functions in another library, as WSL 2's does.
FoundFunction recognize(const char* name, void* found, int version, uint64_t flags, const void* giver);
// Reports to the collector a function newer than the known ones whose name says that it allocates memory.
void note_unknown_function(const char* name, int version);

// Called once, at the start, before any late library is looked up: finds the loader's own functions.
void settle_cuda_routes();

// Replaces what cuGetProcAddress found by its wrapper, if it has one. of_version(V): what it finds for version V. It is
// called if `version` is newer than all known ones, to check whether the function is still the one with a known ABI.
template <typename OfVersion>
void replace_found(const char* name, void** function, int version, uint64_t flags, const void* giver,
                   OfVersion&& of_version) {
  if (name == nullptr || function == nullptr || *function == nullptr) return;
  using Kind = FoundFunction::Kind;
  const FoundFunction found = recognize(name, *function, version, flags, giver);
  if (found.kind == Kind::kForeign) return;
  if (found.kind == Kind::kHooked || (found.kind == Kind::kNewer && of_version(found.version) == *function)) {
    *function = found.wrapper;
  } else {
    note_unknown_function(name, version);
  }
}

}  // namespace heapprof::agent
