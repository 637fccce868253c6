// cli/model/analysis/python/arenas.h: how much of the mapped memory is CPython's arenas, for small objects of all
// callers.
//
// Guarantees
//  - Only memory that the interpreter's module mapped counts, in pieces of the size of its arenas (256 KiB to 3.9, 1
//    MiB from 3.10 on), or by the function that makes arenas.
// Trust:    names are untrusted: any bytes.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>

namespace heapprof::cli {

// Bytes of "mapped" at its peak. 0: none, or the objects have their own device (`heapprof run --python-objects`).
uint64_t find_arena_bytes(const Profile& profile);

}  // namespace heapprof::cli
