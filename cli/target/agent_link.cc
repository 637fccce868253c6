// cli/target/agent_link.cc: the link is in a folder of its own, because a program may change its user, and the kernel
// does not let another user follow our link in /tmp itself (fs.protected_symlinks).
#include "cli/target/agent_link.h"

#include "cli/base/problems.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace heapprof::cli {
namespace {

constexpr std::string_view kSplitting = " :$";
constexpr std::string_view kLinkName = "/agent";

bool can_be_preloaded(std::string_view path) { return path.find_first_of(kSplitting) == std::string_view::npos; }

std::string temporary_folder() {
  const char* chosen = std::getenv("TMPDIR");
  return chosen != nullptr && *chosen == '/' && can_be_preloaded(chosen) ? chosen : "/tmp";
}

}  // namespace

Result<Done> AgentLink::lead(AgentFiles* files) {
  if (can_be_preloaded(files->agent)) return Done{};
  std::string folder = temporary_folder() + "/heapprof-agent-XXXXXX";
  if (mkdtemp(folder.data()) == nullptr) return agent_path_not_loadable(files->agent, errno_text(errno));
  folder_ = folder;
  const std::string installed = files->agent.substr(0, files->agent.rfind('/'));
  const std::string link = folder + std::string(kLinkName);
  constexpr mode_t kAllMayFollow = 0755;
  if (chmod(folder.c_str(), kAllMayFollow) != 0 || symlink(installed.c_str(), link.c_str()) != 0)
    return agent_path_not_loadable(files->agent, errno_text(errno));
  for (std::string* file : {&files->agent, &files->reference}) {
    if (!file->empty()) file->replace(0, installed.size(), link);
  }
  return Done{};
}

AgentLink::~AgentLink() {
  if (folder_.empty()) return;
  unlink((folder_ + std::string(kLinkName)).c_str());
  rmdir(folder_.c_str());
}

}  // namespace heapprof::cli
