// cli/write/report/sizes_text.h: of what sizes the blocks of a place were, in one line.
#pragma once

#include "cli/model/analysis/places.h"

#include <cstddef>
#include <string>

namespace heapprof::cli {

// "one block of 71 KiB", "blocks of 64 B each", "blocks of 48 B to 60 B", or "blocks of 16 B to 40 MiB: 812 to 64 B,
// 200 to 256 B, 3 above": no wider than asked where that can be, the rarest sizes left out first. Empty where the
// profile does not know it.
std::string sizes_text(const PlaceNumbers& numbers, bool exact_bytes, size_t columns);

}  // namespace heapprof::cli
