// agent/hooks/exec.h: the functions that start programs: our variables go with those that can load the agent, and with
// no other.
//
// A program that cannot (musl's loader would exit with 127, another machine's would complain on stderr) starts as
// without us, and the collector gets a note. One that can is followed even if its caller made an environment of its own
// (`env -i`).
//
// Not provided: what libc starts inside of itself (system, popen: they use environ, as they find it), raw system calls,
//               pidfd_spawn (glibc 2.39).
// Guarantees
//  - Nothing is done where nobody follows: --no-follow, or no invitation.
//  - Where the environment is as it should be, the same function is called with the same arguments.
// Context:  vfork children, forked children of threads, signal handlers: no lock, no allocation. The stack holds a
//           changed environment: 8 bytes an entry.
#pragma once

namespace heapprof::agent {

// Once, at the start: finds the real functions.
void settle_exec_hooks();

}  // namespace heapprof::agent
