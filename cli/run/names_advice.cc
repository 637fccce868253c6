// cli/run/names_advice.cc: a package is named only if the file here has the build id of the file that ran. A profile
// may come from another machine, where the file of this path is another build.
#include "cli/run/names_advice.h"

#include "cli/base/text.h"
#include "cli/symbolize/debug_index.h"
#include "cli/symbolize/elf_identity.h"
#include "cli/target/debug_package.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>

namespace heapprof::cli {
namespace {

bool is_here(const ProfileModule& module) {
  const UniqueFd file = open_regular(module.path);
  const std::optional<ElfIdentity> identity = file.is_open() ? read_elf_identity(file.get()) : std::nullopt;
  return identity && !identity->build_id.empty() && identity->build_id == module.build_id;
}

bool has_servers() {
  const char* const urls = std::getenv("DEBUGINFOD_URLS");
  return urls != nullptr && *urls != '\0';
}

}  // namespace

NamesAdvice advise_on_names(const ProfileModule& module, const std::string& profile_path) {
  const std::string file = shell_quoted(profile_path);
  NamesAdvice advice;
  if (module.build_id.empty()) {
    advice.fix = "build it with -Wl,--build-id, and run again: without a build id nothing tells which symbols are its";
    return advice;
  }
  const DebugPackage found = is_here(module) ? find_debug_package(module.path, module.build_id) : DebugPackage();
  advice.package = found.package;
  if (!found.install.empty()) {
    advice.fix = fmt::format("{} && heapprof symbolize {}", found.install, file);
  } else if (const std::string urls = suggested_servers(); !has_servers() && !urls.empty()) {
    advice.fix = fmt::format("DEBUGINFOD_URLS=\"$(cat {})\" heapprof symbolize {}", urls, file);
  } else if (!found.package.empty() && !has_servers()) {
    advice.fix = fmt::format("set DEBUGINFOD_URLS to your distribution's server, and: heapprof symbolize {}", file);
  } else {
    advice.fix = fmt::format("find its debug file, and name the profile: heapprof symbolize --debug-dir DIR {}", file);
  }
  return advice;
}

NamesAdviser names_adviser(const std::string& profile_path) {
  return [profile_path](const ProfileModule& module) { return advise_on_names(module, profile_path); };
}

NamesAdviser quick_names_adviser(const std::string& profile_path) {
  return [profile_path](const ProfileModule&) {
    return NamesAdvice{
        "", fmt::format("heapprof symbolize {}, which says what brings its symbols here", shell_quoted(profile_path))};
  };
}

std::string debuginfod_text(const std::optional<int>& answer) {
  if (!answer) {
    return has_servers() ? "debuginfod was not asked" : "debuginfod was not asked: DEBUGINFOD_URLS is not set";
  }
  switch (*answer) {
    case 0: return "debuginfod sent a file";
    case ENOENT: return "debuginfod has none";
    case ENOSYS: return "debuginfod could not be asked: its client library is not installed";
    default: return "debuginfod did not answer: " + errno_text(*answer);
  }
}

}  // namespace heapprof::cli
