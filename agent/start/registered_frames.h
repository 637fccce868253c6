// agent/start/registered_frames.h: the hooks by which code of JIT compilers is unwound (unwind/registered_frames.h).
#pragma once

namespace heapprof::agent {

// Call when objects are being unloaded: forgets the real functions if their object may be gone.
void forget_frame_functions();

}  // namespace heapprof::agent
