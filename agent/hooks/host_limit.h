// agent/hooks/host_limit.h: `heapprof run --limit host=SIZE`: keeps the heap of the process within the limit, whatever
// its threads do.
//
// With a limit, the pointers that the hooks call point to functions that enforce it and call the real ones. Without a
// limit they point to the real ones.
//
// Guarantees
//  - The limit is exact to the byte, in usable bytes (malloc_usable_size), from the first block on
//    (tests/integration/malloc/host_limit.sh). A forked child begins with the sum of its parent. If a block was
//    allocated elsewhere (by a library opened with RTLD_DEEPBIND) and is freed here, the limit is loosened by the
//    block's size.
//  - A request that does not fit fails as the function itself fails: no block, ENOMEM. If a realloc fails, the old
//    block stays.
// Not provided: an allocator that defines operator new as well (tcmalloc, jemalloc, mimalloc): its operator new would
//               bypass the limit.
// Context:  as the allocator's own functions; no lock, no allocation.
// Cost:     two calls of malloc_usable_size and two atomic additions for each block.
#pragma once

#include <link.h>

#include <cstddef>
#include <cstdint>

namespace heapprof::agent {

// False: the allocator cannot report how large its blocks are. pre: no block exists yet.
bool start_host_limit(uint64_t limit_bytes, const link_map* malloc_object);

}  // namespace heapprof::agent
