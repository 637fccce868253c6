// cli/collect/recorded_snapshots.h: the books of snapshots for the recording: with names and times, and what each site
// had at them.
#pragma once

#include "cli/collect/recording_builder.h"
#include "cli/model/profile/recording.h"

#include <vector>

namespace heapprof::cli {

// pre: the ledger's snapshots are on
Snapshots recorded_snapshots(const RecordingParts& parts);
// Where there is no memory for them: only how many there were.
Snapshots lost_snapshots(const RecordingParts& parts);
// What the sites had. pre: the devices' sites were recorded in the order of their numbers, without those that never had
// a block, and the devices in the order of the ledger's books
void add_site_steps(const RecordingParts& parts, std::vector<RecordedDevice>* devices);

}  // namespace heapprof::cli
