// cli/model/analysis/python/calls.h: calls of Python's evaluator that have no Python frame in the stack.
//
// Each call of the evaluator runs a frame, and the agent puts that frame after the call. If a thread is in a
// subinterpreter, the frames of only one interpreter are read: the subinterpreter from Python 3.12 on, its caller
// before.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>

namespace heapprof::cli {

// How many sites have such a call. Frames outside a greenlet are not counted: there the C stack continues into that of
// the greenlet's parent, which has its own frames. 0 if the profile has no Python frames.
uint64_t count_unread_python_sites(const Profile& profile);

}  // namespace heapprof::cli
