// cli/model/analysis/python/arenas.h: how much of what is mapped is CPython's own, for small objects of anybody's.
//
// Guarantees
//  - Only what the interpreter's module asked for counts, in pieces as large as its arenas are (256 KiB to 3.9, 1 MiB
//    from 3.10 on), or under the name of the function that makes them.
// Trust:    names are strangers': any bytes.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>

namespace heapprof::cli {

// Bytes of "mapped" at its peak. 0: none, or the objects have a device of their own (`heapprof run --python-objects`).
uint64_t find_arena_bytes(const Profile& profile);

}  // namespace heapprof::cli
