// cli/write/report/scopes/critical_path_text.h: the critical path over the scopes of all threads, and the slack of the
// scopes off that path.
#pragma once

#include "cli/model/profile/scopes.h"
#include "cli/write/encode/json_stream.h"

#include <cstddef>
#include <string>

namespace heapprof::cli {

struct CriticalPathLook {
  size_t columns = 80;
  size_t top = 20;  // of runs, and of scopes
};

// pre, for both: has_runs(scopes)
std::string critical_path_text(const Scopes& scopes, const CriticalPathLook& look);
void write_critical_path(const Scopes& scopes, JsonWriter* json);  // a key and an object

}  // namespace heapprof::cli
