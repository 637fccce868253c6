// cli/write/encode/scopes_json.h: the program's own scopes, their single runs, and its marks, for profiles and reports.
#pragma once

#include "cli/model/profile/scopes.h"
#include "cli/write/encode/json_stream.h"

namespace heapprof::cli {

// Single runs are written as columns, which are compact, as objects, or not at all.
enum class InstanceLayout { kColumns, kObjects, kNone };

// Writes a key and an object.
void write_scopes(const Scopes& scopes, InstanceLayout layout, JsonWriter* json);

}  // namespace heapprof::cli
