// agent/api.cc: the functions behind include/heapprof/heapprof.h. They only read state, so that a program may call them
// at any time.
#include "agent/process/state.h"

#define API extern "C" __attribute__((visibility("default")))

API int heapprof_agent_is_recording();
API const char* heapprof_agent_version();

int heapprof_agent_is_recording() {
  return heapprof::agent::g_fork_page.state == heapprof::agent::AgentState::kOn ? 1 : 0;
}

const char* heapprof_agent_version() { return HEAPPROF_VERSION; }
