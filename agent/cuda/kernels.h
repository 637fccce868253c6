// agent/cuda/kernels.h: finds which kernel a launch starts: the number of its name, by the handle that the program
// passes.
//
// The driver is queried for the name once for each handle, at its first launch (cuFuncGetName, cuKernelGetName: CUDA
// 12.3). With an older driver, the name is the one by which the program looked up the kernel. Only that look-up tells
// the kind of a handle: for a handle from elsewhere the driver is not queried, as it may dereference a wrong handle.
//
// Guarantees
//  - A handle that is given out again for another kernel has that kernel's name from then on: handles are given out by
//    look-ups, and each look-up is noted.
//  - A launch costs a hash and three loads; handles beyond kMostHandles have no name (wire::kOtherKernel, counted).
// Context:  wrappers, any thread; no lock.
#pragma once

#include "agent/cuda/driver.h"
#include "shared/kernels.h"

namespace heapprof::agent {

inline constexpr uint32_t kMostHandles = 1u << 16;

// Call when a look-up returned the handle of a kernel. pre: the agent records
void note_kernel_handle(KernelHandle kind, const void* handle, const char* name);
// Call for a handle from a list of a library's or a module's kernels: the driver is queried for its name when it is
// launched.
void note_listed_kernel(KernelHandle kind, const void* handle);
// Call when a look-up returned a kernel's function in a context: the function has the kernel's name.
void note_function_of_kernel(const void* function, const void* kernel);
// Call when a graph was instantiated. kernel_nodes_plus_one: 0: its number of kernels is unknown
void note_graph(const void* executable, uint64_t kernel_nodes_plus_one);

uint32_t number_of_kernel(const void* handle);
uint64_t kernel_nodes_plus_one_of(const void* executable);

// Call when another session begins, with an empty table of names.
void forget_kernel_names();

}  // namespace heapprof::agent
