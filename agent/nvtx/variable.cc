// agent/nvtx/variable.cc: getenv, through which NVTX asks which tool to load.
//
// The program's environment is unchanged: its children, and any code that reads it, find nothing of the agent there,
// and a tool that is set there later takes effect.
#include "agent/hooks/hook.h"
#include "agent/hooks/own_library.h"
#include "agent/nvtx/ranges.h"
#include "agent/nvtx/tables.h"
#include "agent/process/environment.h"
#include "shared/env.h"

#include <stdlib.h>
#include <string.h>

#include <atomic>

namespace heapprof::agent::nvtx {

namespace {

using Getenv = char* (*)(const char*);
std::atomic<Getenv> g_real{nullptr};

Getenv real_getenv() {
  Getenv real = g_real.load(std::memory_order_acquire);
  if (real != nullptr) return real;
  find_real(&real, "getenv");
  return real;
}

// True if the variable is set. The caller checks the variable that names a tool to the CUDA driver: such a tool may set
// NVTX's variable itself, but would not if it found that one set.
bool is_set(Getenv real, const char* name) {
  const char* const value = real(name);
  return value != nullptr && value[0] != 0;
}

[[gnu::noinline]] char* tool_path(const char* name) {
  const Getenv real = real_getenv();
  char* const value = real(name);
  const bool is_ours = value == nullptr && is_on() && !is_set(real, wire::kCudaToolVariable) && agent_path()[0] != 0 &&
                       own_library() != nullptr;
  if (!is_ours) return value;
  char* const path = const_cast<char*>(own_library_path(agent_path()));
  return path[0] != 0 ? path : nullptr;
}

}  // namespace

void settle_variable() {
  Getenv real = nullptr;
  find_real(&real, "getenv");
  g_real.store(real, std::memory_order_release);
}

}  // namespace heapprof::agent::nvtx

EARLY_HOOK(char*, getenv)(const char* name) {
  using namespace heapprof;
  using namespace heapprof::agent::nvtx;
  if (HEAPPROF_UNLIKELY(name[0] == 'N' && strcmp(name, wire::kNvtxVariable) == 0)) return tool_path(name);
  return real_getenv()(name);
}
