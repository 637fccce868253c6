// cli/collect/device_use_books.h: what drivers say that is in use of a device, beside what the books have seen of it.
#pragma once

#include "cli/model/profile/device_facts.h"

#include <cstdint>

namespace heapprof::cli {

// What the driver counts just now, of this process or of all; seen_bytes: what the books have of that device now.
void note_use(uint64_t bytes, bool is_of_all, uint64_t seen_bytes, DeviceUse* use);

}  // namespace heapprof::cli
