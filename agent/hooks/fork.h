// agent/hooks/fork.h: finds the functions that fork, once, before main.
#pragma once

namespace heapprof::agent {

void settle_fork_hooks();

}  // namespace heapprof::agent
