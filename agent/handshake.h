// agent/handshake.h: asks the collector for an arena.
//
// Guarantees
//  - At most one second, then the program runs on without us. Both descriptors are closed again.
// Context:  start-up and the first allocation of a forked child; signals blocked. Raw system calls only.
#pragma once

#include "shared/wire.h"

namespace heapprof::agent {

struct Invitation {
  const char* socket_path = nullptr;  // nullptr: nobody profiles this process
  bool follow = true;
};
// Reads the environment as the kernel handed it over, or as libc has it. The text is copied: valid for ever.
Invitation find_invitation();

// Returns the arena's descriptor, or -1; *verdict says which.
int ask_collector(const char* socket_path, const wire::Hello& hello, wire::Verdict* verdict);

// --no-follow: takes our entries out of LD_PRELOAD and the environment, so that children start as without us.
void clean_environment();

}  // namespace heapprof::agent
