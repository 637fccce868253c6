// cli/write/export/perfetto_heap.h: a device's sites as heap profiles of a trace: see perfetto.h for which.
#pragma once

#include "cli/model/profile/profile.h"
#include "cli/write/export/perfetto_packets.h"

namespace heapprof::cli {

void write_heaps(const Profile& profile, const Device& device, perfetto::PacketStream* packets);

}  // namespace heapprof::cli
