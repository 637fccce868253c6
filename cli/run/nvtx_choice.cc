// cli/run/nvtx_choice.cc: see nvtx_choice.h.
#include "cli/run/nvtx_choice.h"

#include "cli/base/file_name.h"
#include "shared/env.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace heapprof::cli {

namespace {

// Empty as where it is not set.
std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

NvtxChoice choose_nvtx(const std::string& agent) {
  const std::string named = variable(wire::kNvtxVariable);
  const bool is_another_heapprofs = base_name(named) == wire::kAgentFile;  // heapprof within heapprof
  if (!named.empty() && !is_another_heapprofs) {
    const bool is_path = named.find('/') != std::string::npos;  // else the loader searches for it
    if (is_path && access(named.c_str(), R_OK) != 0) return {"", nvtx_tool_unreadable(named, errno_text(errno))};
    return {};
  }
  const std::string cuda_tool = variable(wire::kCudaToolVariable);
  if (!cuda_tool.empty()) return {"", nvtx_left_to_cuda_tool(cuda_tool)};
  return {agent, {}};
}

}  // namespace heapprof::cli
