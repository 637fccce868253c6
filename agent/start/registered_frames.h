// agent/start/registered_frames.h: the hooks by which code of JIT compilers is unwound (unwind/registered_frames.h).
#pragma once

namespace heapprof::agent {

// An object is being unloaded, perhaps the one that has the real functions.
void forget_frame_functions();

}  // namespace heapprof::agent
