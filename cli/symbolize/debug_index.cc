// cli/symbolize/debug_index.cc: examines every file, because debug files have no common naming: Debian's and Fedora's
// trees, objcopy's .debug, a copy of the program from before it was stripped.
#include "cli/symbolize/debug_index.h"

#include "cli/base/file_name.h"
#include "cli/symbolize/elf_identity.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

namespace heapprof::cli {

namespace fs = std::filesystem;

bool is_build_id(const std::string& text) {
  constexpr size_t kLeastDigits = 8;
  return text.size() >= kLeastDigits && text.size() % 2 == 0 &&
         text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

// Files other than regular ones are not opened at all, because opening a device may have effects.
UniqueFd open_regular(const std::string& path) {
  struct stat facts {};
  if (::stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return UniqueFd();
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd.is_open() || ::fstat(fd.get(), &facts) != 0 || !S_ISREG(facts.st_mode)) return UniqueFd();
  return fd;
}

void DebugIndex::look_at(const std::string& path, const std::map<std::string, bool>& names) {
  if (++files_ > kMostFiles) {
    is_cut_short_ = true;
    return;
  }
  const UniqueFd fd = open_regular(path);
  const std::optional<ElfIdentity> identity = fd.is_open() ? read_elf_identity(fd.get()) : std::nullopt;
  if (!identity) return;
  const auto wanted = by_build_id_.find(identity->build_id);
  if (wanted != by_build_id_.end()) {
    wanted->second.push_back(path);
  } else if (const std::string name = base_name(path); names.contains(name)) {
    others_.try_emplace(name, path);
  }
}

DebugIndex DebugIndex::scan(const std::vector<std::string>& folders, const std::vector<Module>& modules) {
  DebugIndex index;
  std::map<std::string, bool> names;
  for (const Module& module : modules) {
    if (!is_build_id(module.build_id)) continue;
    index.by_build_id_[module.build_id];
    names[base_name(module.path)] = names[base_name(module.path) + ".debug"] = true;
  }
  for (const std::string& folder : folders) {
    std::error_code error;
    if (!fs::is_directory(folder, error)) {
      index.look_at(folder, names);
      continue;
    }
    std::vector<std::string> files;
    fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
    for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
      std::error_code ignored;
      if (at->is_regular_file(ignored)) files.push_back(at->path().string());
      if (index.files_ + files.size() > kMostFiles) break;
    }
    std::sort(files.begin(), files.end());
    for (const std::string& file : files) index.look_at(file, names);
  }
  for (auto& [build_id, paths] : index.by_build_id_) {
    const auto rank = [](const std::string& path) {
      const UniqueFd fd = open_regular(path);
      const ElfContents contents = fd.is_open() ? read_elf_contents(fd.get()) : ElfContents();
      return contents.has_debug_info ? 0 : contents.has_symbols ? 1 : 2;
    };
    std::vector<std::pair<int, std::string>> ranked;
    for (std::string& path : paths) ranked.emplace_back(rank(path), std::move(path));
    std::stable_sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    paths.clear();
    for (auto& [number, path] : ranked) paths.push_back(std::move(path));
  }
  return index;
}

UniqueFd DebugIndex::open(const std::string& build_id, std::string* path) const {
  const auto found = by_build_id_.find(build_id);
  if (found == by_build_id_.end()) return UniqueFd();
  for (const std::string& candidate : found->second) {
    UniqueFd fd = open_regular(candidate);
    if (!fd.is_open()) continue;
    const std::optional<ElfIdentity> identity = read_elf_identity(fd.get());
    if (!identity || identity->build_id != build_id) continue;  // the file was replaced since the scan
    *path = candidate;
    return fd;
  }
  return UniqueFd();
}

std::string DebugIndex::other_build_of(const Module& module) const {
  for (const std::string& name : {base_name(module.path) + ".debug", base_name(module.path)}) {
    if (const auto found = others_.find(name); found != others_.end()) return found->second;
  }
  return {};
}

}  // namespace heapprof::cli
