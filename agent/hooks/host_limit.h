// agent/hooks/host_limit.h: `heapprof run --limit host=SIZE`: the heap of the process stays within the limit,
// whatever its threads do.
//
// With a limit, the pointers that the hooks call point to functions that enforce it and call the real ones. Without a
// limit they point to the real ones.
//
// Guarantees
//  - To the byte, in usable bytes (malloc_usable_size), from the first block on
//    (tests/integration/malloc/host_limit.sh). A forked child begins with what its parent had. Blocks that come from
//    elsewhere (a library opened with RTLD_DEEPBIND) and are freed here loosen the limit by as much.
//  - A request that does not fit fails as the function itself fails: no block, ENOMEM. A realloc that fails keeps its
//    block.
// Not provided: an allocator that defines operator new as well (tcmalloc, jemalloc, mimalloc): it would go past the
//               limit.
// Context:  as the allocator's own functions; no lock, no allocation.
// Cost:     two calls of malloc_usable_size and two atomic additions a block.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>

namespace heapprof::agent {

// False: the allocator does not say how large its blocks are. pre: no block is held yet.
bool start_host_limit(uint64_t limit_bytes, const link_map* malloc_object);

}  // namespace heapprof::agent
