// cli/write/encode/scopes_json.h: the program's own scopes and marks, as profiles and reports have them.
#pragma once

#include "cli/model/profile/scopes.h"
#include "cli/write/encode/json_stream.h"

namespace heapprof::cli {

// A key and an object.
void write_scopes(const Scopes& scopes, JsonWriter* json);

}  // namespace heapprof::cli
