// cli/write/report/ranks_json.h: the inputs of a merged profile, and how places differ among them, in the report's
// JSON.
#pragma once

#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"
#include "cli/write/encode/json_stream.h"

namespace heapprof::cli {

// "inputs": an object for each device of each.
void write_inputs(const Profile& profile, JsonWriter* json);

// "by_input" of the place's largest stack, in the place's object; nothing where that is not known.
void write_spread(const Profile& profile, const Device& device, const Place& place, JsonWriter* json);

}  // namespace heapprof::cli
