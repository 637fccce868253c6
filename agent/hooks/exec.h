// agent/hooks/exec.h: hooks the functions that start programs. If a program can load the agent, it gets the agent's
// variables.
//
// If a program cannot load the agent, it starts as without the agent, and the collector gets a note. (musl's loader
// would exit with 127; one for another machine would complain on stderr.) A static program, or one that gains
// privileges, keeps the variables, because it ignores them. A program that can load the agent is followed even if its
// caller made an environment of its own (`env -i`).
//
// Not provided: what libc itself starts (system, popen: they use environ unchanged), raw system calls, pidfd_spawn
//               (glibc 2.39).
// Guarantees
//  - Nothing is done if programs are not followed: with --no-follow, or without an invitation.
//  - If the environment needs no change, the same function is called with the same arguments.
// Context:  vfork children, forked children of threads, signal handlers: no lock, no allocation. A changed environment
//           lies on the stack: 8 bytes for each entry.
#pragma once

namespace heapprof::agent {

// Once, at the start: finds the real functions.
void settle_exec_hooks();

}  // namespace heapprof::agent
