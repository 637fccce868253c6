// agent/cuda/routes.h: the ways to the CUDA driver's entry points, and the wrappers that stand on all of them
// (hooks_*.cc).
//
//   -lcuda                         the exported names, as the loader binds them
//   dlopen and dlsym, ctypes,      dlsym, which gives out a wrapper where the real look-up finds a hooked function;
//   cuFFT, runtimes before 11.3    every other call jumps through with its caller's return address
//   static and shared cudart       cuGetProcAddress, which the runtime asks for each function
//
// Guarantees
//  - dlsym finds no name that it would not find without us (tests/integration/cuda/cuda_routes.sh: absent, local). Weak
//    references find ours: agent/README.md.
//  - Results, error codes and out-parameters are the driver's. What a wrapper does not know, it passes through.
//  - Another library's function of the same name, before the driver or in the program, stays in its place: what it
//    calls is counted once, in the end.
//  - cuGetExportTable is not touched.
// Context:  any thread; nothing is looked up before a program asks for a name that begins with "cu".
// Cost:     two comparisons in dlsym; 0.1 µs a driver call that is hooked, 0.15 µs one that allocates from a pool or
//           frees there (of the thread's processor time, with the fake driver of tests/fake_cuda).
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
// Their hidden names: they lead to the wrappers whatever the program defines under the others.
#define X(symbol, base, version, per_thread, params) int heapprof_##symbol params;
#include "agent/cuda/functions.def"
#undef X
}

namespace heapprof::agent {

// What a look-up found, compared with the hooked function that its name and version mean.
struct FoundFunction {
  enum class Kind {
    kUnhooked,  // the name means no hooked function
    kForeign,   // another library's function, which leads to a wrapper by itself
    kHooked,    // the driver's function, with the ABI that is known
    kNewer,     // the driver's function, for a version newer than is known: its ABI may be another
  };
  Kind kind;
  void* wrapper;
  int version;  // the CUDA version that brought its ABI
};
// giver: the cuGetProcAddress that found it. The driver may find its functions in another library, as that of WSL 2
// does.
FoundFunction recognize(const char* name, void* found, int version, uint64_t flags, const void* giver);
// Tells the collector of a function that by its name gives out memory, and that is newer than what is known.
void note_unknown_function(const char* name, int version);

// Once, at the start, before any library that comes late is looked for: finds the loader's own functions.
void settle_cuda_routes();

// Replaces what cuGetProcAddress found by its wrapper, if it has one. of_version(V): what it finds for version V; asked
// where `version` is newer than all that is known, to see whether the function is still the one with a known ABI.
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
