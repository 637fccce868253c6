// agent/hooks/real.h: the malloc family behind the hooks: what would have been called without us.
//
// Each pointer is empty until the start: a hook calls resolve_real_functions() first.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>

// Variables are read where they are, and not by way of a table.
#pragma GCC visibility push(hidden)

namespace heapprof::agent {

struct RealFunctions {
#define X(result, name, params, args) result(*name) params;
#include "shared/hooks.def"
#undef X
};
extern RealFunctions g_real;

// Bit i: function i of hooks.def comes from the object that serves malloc (or from our stand-in), so that its blocks
// may be freed. An allocator that lacks pvalloc, say, leaves libc's in place, whose blocks nobody can free.
extern uint32_t g_one_family;

// Fills g_real. False: there is no malloc behind the agent, and functions that fail stand there. Who serves malloc goes
// to *malloc_object.
bool find_real_functions(const link_map** malloc_object);

}  // namespace heapprof::agent

#pragma GCC visibility pop
