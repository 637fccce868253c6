// agent/hooks/own_library.cc: see own_library.h.
#include "agent/hooks/own_library.h"

#include "agent/hooks/hook.h"

#include <string.h>

extern "C" HIDDEN char heapprof_own_path[4096];
char heapprof_own_path[4096];

namespace heapprof::agent {

const char* own_library_path(const char* path) {
  const size_t bytes = strlen(path) + 1;
  // If two threads come here at once, both write the same bytes.
  if (heapprof_own_path[0] == 0 && bytes <= sizeof heapprof_own_path) memcpy(heapprof_own_path, path, bytes);
  return heapprof_own_path;
}

const link_map* own_library() {
  static const link_map* found = nullptr;
  const link_map* known = __atomic_load_n(&found, __ATOMIC_RELAXED);
  if (known == nullptr) {
    known = agent_object();
    while (known != nullptr && known->l_prev != nullptr) known = known->l_prev;
    __atomic_store_n(&found, known, __ATOMIC_RELAXED);
  }
  return known;
}

void* open_own_library(const char*, int) { return const_cast<link_map*>(own_library()); }

}  // namespace heapprof::agent
