// cli/model/analysis/python/arenas.h: how much of the mapped memory is CPython's arenas, for small objects of all
// callers.
//
// Guarantees
//  - Memory counts only if the function that makes arenas mapped it, or if the interpreter's module mapped it in pieces
//    of an arena's size (256 KiB up to Python 3.9, 1 MiB from 3.10 on).
// Trust:    names are untrusted: any bytes.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>

namespace heapprof::cli {

// Bytes of arenas at the peak of the device "mapped". 0 if there are none, or if Python objects have their own device
// (`heapprof run --python-objects`).
uint64_t find_arena_bytes(const Profile& profile);

}  // namespace heapprof::cli
