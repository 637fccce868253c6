// cli/read/scope_reader.h: the program's own scopes and marks, out of a profile's extension.
#pragma once

#include "cli/model/profile/scopes.h"
#include "cli/read/json_pull.h"

namespace heapprof::cli {

// The object. A scope whose parent is not before it is an error; errors stay in `json`.
void read_scopes(JsonPull* json, Scopes* scopes);

}  // namespace heapprof::cli
