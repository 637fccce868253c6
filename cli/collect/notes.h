// cli/collect/notes.h: what the agent saw and no record can say (wire::Note).
//
// Trust:    every byte may change at any moment: each note is copied, then checked; one that no agent writes is left out.
#pragma once

#include "cli/model/run.h"
#include "shared/wire.h"

#include <cstdint>

namespace heapprof::cli {

// Adds to unprofiled_programs and bypassing_modules; the same program or object twice is one.
void read_notes(const wire::Note* notes, uint32_t claimed, Coverage* coverage);

}  // namespace heapprof::cli
