// agent/start/registered_frames.cc: __register_frame and __deregister_frame, by which a JIT compiler tells libgcc how
// its code is unwound: the stacks that we record go through that code, too.
//
// The section is handed on first. libgcc comes with C++ and may be loaded at any time; a program without it has nothing
// that could be told.
#include "agent/start/registered_frames.h"

#include "agent/hooks/hook.h"
#include "agent/hooks/late_real.h"
#include "agent/unwind/registered_frames.h"

namespace heapprof::agent {

namespace {

constinit LateReal g_reals[] = {{"__register_frame"}, {"__deregister_frame"}};

}  // namespace

void forget_frame_functions() { forget_unloaded(g_reals); }

}  // namespace heapprof::agent

HOOK void __register_frame(void* section) {
  heapprof::agent::forward(&heapprof::agent::g_reals[0], section);
  heapprof::agent::note_registered_frames(section);
}

HOOK void __deregister_frame(void* section) {
  heapprof::agent::note_deregistered_frames(section);
  heapprof::agent::forward(&heapprof::agent::g_reals[1], section);
}
