// cli/read/extension_parts.h: objects of a profile's extension, each read in its own source file. Errors stay in
// `json`.
#pragma once

#include "cli/model/profile/device_api.h"
#include "cli/model/profile/device_facts.h"
#include "cli/model/profile/device_trace.h"
#include "cli/model/profile/merged_part.h"
#include "cli/model/profile/named_memory.h"
#include "cli/model/profile/profile.h"
#include "cli/model/profile/scopes.h"
#include "cli/model/profile/segments_use.h"
#include "cli/model/profile/snapshots.h"
#include "cli/model/profile/unseen_memory.h"
#include "cli/read/field_reader.h"
#include "cli/read/json_pull.h"
#include "cli/read/point_reader.h"

#include <array>
#include <cstdint>
#include <vector>

namespace heapprof::cli {

// ---- device_reader.cc ----

// The extension's data about devices besides their memory: refused allocations, calls of their API, and snapshots.
void read_refusals(JsonPull* json, PointReader* points, std::vector<Refusal>* refusals);
void read_fragmentation(JsonPull* json, PointReader* points, Fragmentation* fragmentation);
void read_untouched(JsonPull* json, PointReader* points, Untouched* untouched);
void read_held_by(JsonPull* json, PointReader* points, std::vector<Holder>* all);
void read_lost_owners(JsonPull* json, PointReader* points, std::vector<LostOwners>* all);
void read_names(JsonPull* json, PointReader* points, std::vector<NamedMemory>* names);
void read_segments(JsonPull* json, PointReader* points, SegmentsUse* segments);
void read_unseen(JsonPull* json, PointReader* points, UnseenMemory* unseen);
// More than kMostSnapshots are an error.
void read_snapshots(JsonPull* json, PointReader* points, Snapshots* snapshots);
void read_api(JsonPull* json, PointReader* points, DeviceApi* api);

// An entry of "merged", with its places.
void read_part(JsonPull* json, MergedPart* part);

// ---- scope_reader.cc ----

// Reads the object with the program's own scopes and marks. A scope before its parent is an error.
void read_scopes(JsonPull* json, Scopes* scopes);

// ---- trace_reader.cc ----

// Reads the object with the trace of device memory. Errors are: columns of several lengths, an index out of range, more
// events or blocks than a profile may hold.
void read_device_trace(JsonPull* json, PointReader* points, DeviceTrace* trace);

// ---- spread_reader.cc ----

// The columns of "sites" that say how far a site's numbers differ between the inputs of a merged profile.
struct SpreadColumns {
  std::vector<uint64_t> sites;   // the sites with a known spread; each other column has one number for each of them
  std::vector<uint64_t> inputs;  // how many inputs have the site
  std::array<std::array<std::vector<uint64_t>, 3>, kSpreadFields> of;  // smallest, largest, the input with the largest
};

// Adds the members of "sites" that fill the columns, which must outlive the reading.
void add_spread_members(JsonPull* json, SpreadColumns* columns, std::vector<MemberReader::Member>* members);

// Puts the columns into the sites; false if they do not fit. cli/model/profile/invariants.h checks whether the numbers
// agree.
bool set_spreads(const SpreadColumns& columns, std::vector<Site>* sites);

}  // namespace heapprof::cli
