// cli/check/commit.cc: runs git instead of reading its files: git knows worktrees, packed references and alternates.
#include "cli/check/check_outputs.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace heapprof::cli {
namespace {

std::string ask_git() {
  FILE* git = ::popen("git rev-parse --verify --quiet HEAD 2>/dev/null", "re");
  if (git == nullptr) return "";
  std::array<char, 128> line{};
  const bool answered = std::fgets(line.data(), line.size(), git) != nullptr;
  if (::pclose(git) != 0 || !answered) return "";
  const std::string_view text(line.data());
  const std::string_view hash = text.substr(0, text.find_first_not_of("0123456789abcdef"));
  return std::string(hash.size() >= 40 ? hash : std::string_view());
}

}  // namespace

std::string commit_of_environment(const std::function<const char*(const char* variable)>& environment) {
  for (const char* variable : {"GITHUB_SHA", "CI_COMMIT_SHA"}) {
    const char* value = environment(variable);
    if (value != nullptr && value[0] != '\0') return value;
  }
  return "";
}

std::string find_commit(const std::string& given) {
  if (!given.empty()) return given;
  const std::string commit = commit_of_environment([](const char* variable) { return std::getenv(variable); });
  return commit.empty() ? ask_git() : commit;
}

}  // namespace heapprof::cli
