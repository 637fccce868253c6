// cli/write/report/json_parts.h: parts of the report's JSON that are in separate files.
#pragma once

#include "cli/model/analysis/places.h"
#include "cli/model/analysis/scope_categories.h"
#include "cli/model/profile/profile.h"
#include "cli/write/encode/json_stream.h"

#include <vector>

namespace heapprof::cli {

// ---- ranks_json.cc ----

// The inputs of a merged profile, and how places differ among them.

// Writes "inputs", with an object for each device of each input.
void write_inputs(const Profile& profile, JsonWriter* json);

// Writes "by_input", the spread of the place's largest stack, into the place's open object; writes nothing if it is
// unknown.
void write_spread(const Profile& profile, const Device& device, const Place& place, JsonWriter* json);

// ---- scope_sums_json.cc ----

// Sums of scopes by category, and of PyTorch's operators by name.

// Writes the members "operators", if there are any, and "categories" into an open object.
void write_scope_sums(const Scopes& scopes, const std::vector<CategoryRule>& rules, JsonWriter* json);

}  // namespace heapprof::cli
