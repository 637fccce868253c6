// cli/target/agent_files.cc: see agent_files.h.
#include "cli/target/agent_files.h"

#include "cli/base/problems.h"

#include <sys/auxv.h>
#include <unistd.h>

#include <array>
#include <filesystem>

namespace heapprof::cli {

Result<AgentFiles> find_agent_files() {
  std::error_code error;
  std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) {  // without /proc: the path by which the tool was executed
    const auto* executed = reinterpret_cast<const char*>(getauxval(AT_EXECFN));
    if (executed != nullptr) self = std::filesystem::canonical(executed, error);
  }
  const std::filesystem::path prefix = self.parent_path().parent_path();
  const std::array<std::filesystem::path, 2> folders = {prefix / HEAPPROF_LIBDIR / "heapprof",
                                                        prefix / "lib" / "heapprof"};
  for (const std::filesystem::path& folder : folders) {
    const std::filesystem::path agent = folder / "libheapprof.so";
    if (access(agent.c_str(), R_OK) != 0) continue;
    AgentFiles files{agent.string(), {}, {}};
    const std::filesystem::path reference = folder / "libheapprof-verify.so";
    if (access(reference.c_str(), R_OK) == 0) files.reference = reference.string();
    const std::filesystem::path nvml = folder / "heapprof-nvml";
    if (access(nvml.c_str(), X_OK) == 0) files.nvml = nvml.string();
    return files;
  }
  return agent_not_found((folders.back() / "libheapprof.so").string());
}

}  // namespace heapprof::cli
