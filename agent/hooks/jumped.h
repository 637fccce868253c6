// agent/hooks/jumped.h: functions that are looked at and then jumped through: the callee sees its own caller, not us.
//
// dlopen, dlmopen: libc looks at the caller for search paths and the namespace. What is loaded past the hooks
// (RTLD_DEEPBIND, a namespace of its own) gets a note; with --deepbind=hook RTLD_DEEPBIND is taken out of the flags
// instead. prctl, syscall: before a thread asks for a seccomp filter everything is made ready for it, and where it is
// refused that is taken back; a sigaltstack made so is remembered; the signal that is asked for at the parent's
// death (PR_SET_PDEATHSIG) is reported to the collector. What the executable maps by syscall is recorded (mapping.h).
//
// Cost:     a comparison and a jump through memory.
#pragma once

namespace heapprof::agent {

// Once, at the start: finds the real functions that are loaded by then.
void settle_jumped_hooks();

}  // namespace heapprof::agent
