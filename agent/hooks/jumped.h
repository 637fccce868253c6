// agent/hooks/jumped.h: hooks that inspect their arguments and then tail-call the real function, which sees its own
// caller, not the agent.
//
// dlopen, dlmopen: libc derives search paths and the namespace from the caller. If an object is loaded so that it
// bypasses the hooks (RTLD_DEEPBIND, a namespace of its own), the collector gets a note. With --deepbind=hook,
// RTLD_DEEPBIND is removed from the flags instead. prctl, syscall: before a thread asks for a seccomp filter, the agent
// prepares for it; if the kernel refuses the filter, the agent undoes that. An alternate stack that is installed by
// syscall() is remembered. The signal that is requested for the parent's death (PR_SET_PDEATHSIG) is reported to the
// collector. What the executable maps by syscall() is recorded (mapping.h).
//
// Cost:     a comparison and a jump through memory.
#pragma once

namespace heapprof::agent {

// Once, at the start: finds the real functions that are loaded by then.
void settle_jumped_hooks();

}  // namespace heapprof::agent
