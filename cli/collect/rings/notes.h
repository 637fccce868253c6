// cli/collect/rings/notes.h: what the agent saw and no record type can express (wire::Note).
//
// Trust:    every byte may change at any moment: each note is copied, then checked; a note that no agent writes is left
//           out.
#pragma once

#include "cli/model/profile/device_facts.h"
#include "cli/model/profile/run.h"
#include "shared/wire.h"

#include <cstdint>
#include <map>

namespace heapprof::cli {

using DeviceIdentities = std::map<uint32_t, DeviceIdentity>;  // by wire's device number

// Adds to unprofiled_programs, bypassing_modules, unknown_functions and the devices; the same program or object is
// added once.
void read_notes(const wire::Note* notes, uint32_t claimed, Coverage* coverage, DeviceIdentities* devices);

}  // namespace heapprof::cli
