// tests/fake_cuda/fake_kernels.h: kernels with names, and events with a time of their own.
//
// Time passes only as a test says: a kernel takes fake_cuda_kernel_ns, and the host takes none but what
// fake_cuda_pass_ns makes pass. A stream does one thing after another, and nothing is complete before somebody has
// waited for it. So what events say is known to the nanosecond.
#pragma once

#include "tests/fake_cuda/fake_cuda.h"

// The functions below are called with the lock held.

// The handle of a module's kernel.
void* fake_function(void* module, const char* name);

// A kernel starts on a stream when that has done what it was given before, and not before it was launched.
void fake_launch(void* stream);
void fake_record_event(void* event, void* stream);
// What was given to the stream is complete.
void fake_complete(void* stream);
void fake_complete_all();
void fake_complete_event(void* event);
// A launch, or an event, on the stream that is being captured becomes a node of the graph: 0: a kernel's, 7: an
// event's.
bool fake_capture_node(void* stream, int type);
