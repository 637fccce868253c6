// cli/read/device_reader.h: what the extension says of devices besides their memory: what they refused, calls of their
// API, and snapshots.
//
// Errors stay in `json`.
#pragma once

#include "cli/model/profile/device_api.h"
#include "cli/model/profile/device_facts.h"
#include "cli/model/profile/merged_part.h"
#include "cli/model/profile/named_memory.h"
#include "cli/model/profile/segments_use.h"
#include "cli/model/profile/snapshots.h"
#include "cli/model/profile/unseen_memory.h"
#include "cli/read/json_pull.h"
#include "cli/read/point_reader.h"

#include <vector>

namespace heapprof::cli {

void read_refusals(JsonPull* json, PointReader* points, std::vector<Refusal>* refusals);
void read_lost_owners(JsonPull* json, PointReader* points, std::vector<LostOwners>* all);
void read_names(JsonPull* json, PointReader* points, std::vector<NamedMemory>* names);
void read_segments(JsonPull* json, PointReader* points, SegmentsUse* segments);
void read_unseen(JsonPull* json, PointReader* points, UnseenMemory* unseen);
// More than kMostSnapshots are an error.
void read_snapshots(JsonPull* json, PointReader* points, Snapshots* snapshots);
void read_api(JsonPull* json, PointReader* points, DeviceApi* api);

// An entry of "merged", with its places.
void read_part(JsonPull* json, MergedPart* part);

}  // namespace heapprof::cli
