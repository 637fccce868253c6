// cli/model/analysis/python/calls.h: calls of Python's evaluator in the stacks that have no frame of Python.
//
// Each call of the evaluator runs a frame, and the agent puts it behind the call. Where a thread is in a
// subinterpreter, the frames of one interpreter alone are read: that of the subinterpreter from Python 3.12 on, its
// caller's before.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>

namespace heapprof::cli {

// How many sites have such a call. What is outside of a greenlet is not counted: the C stack goes on there into that of
// the greenlet's parent, whose frames are its own. 0 where the profile has no frames of Python at all.
uint64_t count_unread_python_sites(const Profile& profile);

}  // namespace heapprof::cli
