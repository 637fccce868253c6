// agent/start/handshake.h: asks the collector for an arena.
//
// Guarantees
//  - The agent waits at most one second for an answer; then the program runs on without the agent. It waits at most ten
//    seconds if /proc says that the collector runs, and at most sixty while the collector also uses the processor. Such
//    a collector is only busy (a thousand processes ask at once; on a loaded machine its drain passes take seconds).
//    Both descriptors are closed again.
// Not provided: hiding the descriptors during the handshake: see libc/own_file_table.h.
// Context:  start-up and the first allocation of a forked child; signals blocked. Raw system calls only.
#pragma once

#include "shared/wire.h"

namespace heapprof::agent {

// How many seccomp filters the calling thread runs under. 0 where the kernel does not say (before Linux 5.10);
// UINT32_MAX where there are some and /proc cannot be read.
uint32_t count_own_filters();

// True if this process may open as many further descriptors as asking takes.
bool has_descriptors();

inline constexpr wire::Answer kNoAnswer{};

// Returns the arena's descriptor, or -1: then *answer says why; kNoAnswer: no answer came.
int ask_collector(const char* socket_path, const wire::Hello& hello, wire::Answer* answer);

}  // namespace heapprof::agent
