// agent/hooks/real.h: the malloc family behind the hooks: what would have been called without the agent.
//
// Each pointer is empty until the start: a hook calls resolve_real_functions() first.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>

// Variables are accessed directly, not through the GOT.
#pragma GCC visibility push(hidden)

namespace heapprof::agent {

struct RealFunctions {
#define X(result, name, params, args) result(*name) params;
#include "shared/hooks.def"
#undef X
};
extern RealFunctions g_real;

// Bit i: function i of hooks.def comes from the object that serves malloc (or from the agent's stand-in), so that its
// blocks may be freed. An allocator that lacks pvalloc, say, leaves libc's in place, whose blocks cannot be freed.
extern uint32_t g_one_family;

// Fills g_real. False: there is no malloc behind the agent, and functions that fail are used. *malloc_object: the
// object that serves malloc.
bool find_real_functions(const link_map** malloc_object);

}  // namespace heapprof::agent

#pragma GCC visibility pop
