// cli/run/nvtx_obstacle.cc: see nvtx_obstacle.h.
#include "cli/run/nvtx_obstacle.h"

#include "shared/env.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

namespace heapprof::cli {

namespace {

// The variable's value; empty if it is not set.
std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

std::optional<Problem> find_nvtx_obstacle() {
  const std::string tool = variable(wire::kNvtxVariable);
  if (!tool.empty()) {
    const bool is_path = tool.find('/') != std::string::npos;  // a plain name is searched for by the loader
    if (is_path && access(tool.c_str(), R_OK) != 0) return nvtx_tool_unreadable(tool, errno_text(errno));
    return std::nullopt;
  }
  const std::string cuda_tool = variable(wire::kCudaToolVariable);
  if (!cuda_tool.empty()) return nvtx_left_to_cuda_tool(cuda_tool);
  return std::nullopt;
}

}  // namespace heapprof::cli
