// agent/hooks/real.h: the real functions of the malloc family, which would be called without the agent.
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

// Bit i: function i of hooks.def comes from the object that serves malloc (or is the agent's stand-in): that object can
// free its blocks. If an allocator lacks pvalloc, say, libc's pvalloc is found, whose blocks that allocator cannot
// free.
extern uint32_t g_one_family;

// Fills g_real. False: no object after the agent defines malloc, so g_real gets functions that fail. *malloc_object:
// the object that serves malloc.
bool find_real_functions(const link_map** malloc_object);

}  // namespace heapprof::agent

#pragma GCC visibility pop
