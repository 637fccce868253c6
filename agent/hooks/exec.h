// agent/hooks/exec.h: the functions that start programs: programs that can load the agent get its variables.
//
// A program that cannot (musl's loader would exit with 127, another machine's would complain on stderr) starts as
// without the agent, and the collector gets a note. (A static program, or one that gains privileges, keeps the
// variables, which it ignores.) One that can is followed even if its caller made an environment of its own (`env -i`).
//
// Not provided: what libc itself starts (system, popen: they use environ unchanged), raw system calls, pidfd_spawn
//               (glibc 2.39).
// Guarantees
//  - Nothing is done if programs are not followed: --no-follow, or no invitation.
//  - Where the environment is as it should be, the same function is called with the same arguments.
// Context:  vfork children, forked children of threads, signal handlers: no lock, no allocation. The stack holds a
//           changed environment: 8 bytes an entry.
#pragma once

namespace heapprof::agent {

// Once, at the start: finds the real functions.
void settle_exec_hooks();

}  // namespace heapprof::agent
