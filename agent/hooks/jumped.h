// agent/hooks/jumped.h: hooks that inspect their arguments and then tail-call the real function, which sees its own
// caller, not the agent.
//
// dlopen, dlmopen: libc looks at the caller for search paths and the namespace. What is loaded past the hooks
// (RTLD_DEEPBIND, a namespace of its own) gets a note; with --deepbind=hook RTLD_DEEPBIND is taken out of the flags
// instead. prctl, syscall: before a thread asks for a seccomp filter the agent prepares for it, and undoes that if it
// is refused; a sigaltstack made so is remembered; the signal that is asked for at the parent's death
// (PR_SET_PDEATHSIG) is reported to the collector. What the executable maps by syscall is recorded (mapping.h).
//
// Cost:     a comparison and a jump through memory.
#pragma once

namespace heapprof::agent {

// Once, at the start: finds the real functions that are loaded by then.
void settle_jumped_hooks();

}  // namespace heapprof::agent
