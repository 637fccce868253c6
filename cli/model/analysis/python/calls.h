// cli/model/analysis/python/calls.h: counts sites with a call of Python's evaluator whose Python frame is missing in
// the stack.
//
// Each call of the evaluator runs a frame, and the agent puts that frame after the call. If a thread is in a
// subinterpreter, the agent reads the frames of only one interpreter: those of the subinterpreter from Python 3.12 on,
// those of its caller before 3.12.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>

namespace heapprof::cli {

// The number of sites with such a call. Frames outside a greenlet are not counted: there the C stack continues into
// that of the greenlet's parent, which has its own frames. 0 if the profile has no Python frames.
uint64_t count_unread_python_sites(const Profile& profile);

}  // namespace heapprof::cli
