// agent/cuda/kernels.h: which kernel a launch is of: its name's number, by the handle that the program launches.
//
// The name is asked of the driver once for each handle, at its first launch (cuFuncGetName, cuKernelGetName: CUDA
// 12.3). Of an older driver it is what the program asked for when it looked the kernel up. What kind of handle it is,
// is known from that look-up alone: of one that was got by another way the driver is not asked, as it may take a wrong
// one for a pointer.
//
// Guarantees
//  - A handle that is given out again, for another kernel, has that one's name from then on: a handle is given out by a
//    look-up, and each is noted.
//  - A launch costs a hash and three loads; handles beyond kMostHandles have no name (wire::kOtherKernel, counted).
// Context:  wrappers, any thread; no lock.
#pragma once

#include "agent/cuda/driver.h"
#include "shared/kernels.h"

namespace heapprof::agent {

inline constexpr uint32_t kMostHandles = 1u << 16;

// A look-up gave out the handle of a kernel. pre: the agent records
void note_kernel_handle(KernelHandle kind, const void* handle, const char* name);
// A list of a library's or a module's kernels gave it out: the driver is asked for its name when it is launched.
void note_listed_kernel(KernelHandle kind, const void* handle);
// The same of a kernel's function in a context: it has the kernel's name.
void note_function_of_kernel(const void* function, const void* kernel);
// A graph was made ready for launches. kernel_nodes_plus_one: 0: nobody knows how many kernels it has
void note_graph(const void* executable, uint64_t kernel_nodes_plus_one);

uint32_t number_of_kernel(const void* handle);
uint64_t kernel_nodes_plus_one_of(const void* executable);

// Another life begins, with an empty table of names.
void forget_kernel_names();

}  // namespace heapprof::agent
