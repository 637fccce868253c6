// cli/model/analysis/library_code.cc: a table of the folders that package managers and build tools use.
#include "cli/model/analysis/library_code.h"

#include "cli/base/file_name.h"
#include "cli/base/text.h"

#include <algorithm>
#include <array>
#include <map>

namespace heapprof::cli {
namespace {

// A folder with library files, and how the path below it names the library.
struct LibraryFolder {
  std::string_view folder;  // anywhere in the path; with is_first only at its begin
  bool is_first = false;
  int skipped_parts = 0;      // between the folder and the name
  std::string_view name_end;  // the name ends before the first of these; empty: at the end of the path's part
};
constexpr std::array kSourceFolders = {
    LibraryFolder{"/usr/include/", true, 0, "."},
    LibraryFolder{"/usr/local/include/", true, 0, "."},
    LibraryFolder{"/usr/local/cuda", true, 0, "/"},
    LibraryFolder{"/usr/src/debug/", true, 0, ""},
    LibraryFolder{"cargo/registry/src/", false, 1, "-0123456789"},
    LibraryFolder{"cargo/git/checkouts/", false, 0, "-0123456789"},
    LibraryFolder{"/_deps/", false, 0, "-"},            // CMake's FetchContent
    LibraryFolder{"/vcpkg_installed/", false, 2, "."},  // the triplet, include
    LibraryFolder{"/vcpkg/buildtrees/", false, 0, ""},
    LibraryFolder{"/.conan/data/", false, 0, ""},
    LibraryFolder{"/.conan2/p/", false, 0, ""},
    LibraryFolder{"/node_modules/", false, 0, ""},
    LibraryFolder{"/go/pkg/mod/", false, 0, "@"},
    LibraryFolder{"/subprojects/", false, 0, "-"},  // Meson
    LibraryFolder{"/third_party/", false, 0, "."},
    LibraryFolder{"/thirdparty/", false, 0, "."},
    LibraryFolder{"/3rdparty/", false, 0, "."},
    LibraryFolder{"/.linuxbrew/Cellar/", false, 0, ""},
    LibraryFolder{"/lib/ldc/", false, 0, "/"},  // D's runtime and Phobos
    LibraryFolder{"/lib/gcc/", false, 0, "/"},
    LibraryFolder{"/adainclude/", false, 0, "."},
};
constexpr std::array<std::string_view, 6> kModuleFolders = {"/usr/lib/", "/lib/",       "/usr/lib64/",
                                                            "/lib64/",   "/usr/lib32/", "/usr/local/lib/"};
constexpr std::array<std::string_view, 8> kProgramFolders = {"/usr/bin/", "/bin/", "/usr/sbin/",    "/sbin/",
                                                             "/usr/lib/", "/lib/", "/usr/libexec/", "/usr/games/"};

// Folders with both programs and libraries.
bool is_in_store(std::string_view path) { return path.starts_with("/nix/store/") || path.starts_with("/gnu/store/"); }

std::string_view first_part(std::string_view path) { return path.substr(0, path.find('/')); }

bool is_in_conda(std::string_view path) {
  constexpr std::array<std::string_view, 6> kFolders = {"conda/",      "conda2/",     "conda3/",
                                                        "miniforge3/", "mambaforge/", "micromamba/"};
  return std::any_of(kFolders.begin(), kFolders.end(),
                     [path](std::string_view folder) { return path.find(folder) != std::string_view::npos; });
}

// The name in the path after the folder, by the table.
std::string name_below(std::string_view below, const LibraryFolder& folder) {
  for (int i = 0; i < folder.skipped_parts; ++i) {
    const size_t slash = below.find('/');
    if (slash == std::string_view::npos) return "";
    below.remove_prefix(slash + 1);
  }
  if (folder.name_end == "@") return std::string(below.substr(0, below.find('@')));  // github.com/owner/name@v1
  std::string_view part = first_part(below);
  if (folder.folder.starts_with("/usr/")) {
    const bool is_triplet = part.find("-linux-") != std::string_view::npos;
    if (is_triplet) part = first_part(below.substr(std::min(below.size(), part.size() + 1)));
    if (part == "bits" || part == "sys") return "libc";
  }
  if (part.starts_with('@')) return std::string(below.substr(0, below.find('/', part.size() + 1)));  // npm's scopes
  if (folder.name_end.starts_with('-') && folder.name_end.size() > 1) {  // "serde_json-1.0.96", "map-3f2a81c"
    for (size_t dash = part.find('-'); dash != std::string_view::npos; dash = part.find('-', dash + 1)) {
      if (dash + 1 < part.size() && folder.name_end.find(part[dash + 1]) != std::string_view::npos)
        return std::string(part.substr(0, dash));
    }
    return std::string(part);
  }
  if (folder.name_end == "-") return std::string(part.substr(0, part.rfind("-src")));
  if (folder.name_end == ".") return std::string(part.substr(0, part.find('.')));
  return folder.name_end == "/" ? "" : std::string(part);
}

}  // namespace

std::optional<std::string> library_of_source(std::string_view file) {
  for (const LibraryFolder& folder : kSourceFolders) {
    const size_t at =
        folder.is_first ? (file.starts_with(folder.folder) ? 0 : std::string_view::npos) : file.rfind(folder.folder);
    if (at != std::string_view::npos) return name_below(file.substr(at + folder.folder.size()), folder);
  }
  // Bazel's: ".../execroot/app/external/boringssl/…"
  constexpr std::string_view kExternal = "/external/";
  if (const size_t at = file.find(kExternal); at != std::string_view::npos && file.find("/execroot/") < at)
    return std::string(first_part(file.substr(at + kExternal.size())));
  const bool is_header = file.find("/include/") != std::string_view::npos;
  if (is_header && (is_in_store(file) || is_in_conda(file))) return "";
  return std::nullopt;
}

std::string library_of_module(std::string_view path) {
  const std::string_view name = base_name_view(path);
  const bool is_of_system = starts_with_one_of(path, kModuleFolders) || path.starts_with("/usr/local/cuda") ||
                            ((is_in_store(path) || is_in_conda(path)) && path.find("/lib/") != std::string_view::npos);
  if (!is_of_system && !library_of_source(path)) return "";
  return std::string(name.substr(0, name.find(".so")));
}

bool is_system_program(std::string_view path) { return path.empty() || starts_with_one_of(path, kProgramFolders); }

namespace {

bool has_own_program(const Profile& profile) { return !is_system_program(profile.run.executable); }

// By module: the library's name; empty for other modules.
std::vector<std::string> names_of_modules(const Profile& profile) {
  std::vector<std::string> names(profile.modules.size());
  for (size_t module = 0; module < names.size() && has_own_program(profile); ++module) {
    const std::string& path = profile.modules[module].path;
    const bool is_beside = path.starts_with("/usr/local/") && profile.run.executable.starts_with("/usr/local/");
    if (path != profile.run.executable && !is_beside) names[module] = library_of_module(path);
  }
  return names;
}

}  // namespace

std::vector<CodeOwner> find_code_owners(const Profile& profile) {
  const bool has_program = has_own_program(profile);
  const std::vector<std::string> of_modules = names_of_modules(profile);
  std::map<std::string_view, bool> of_files;  // many frames share a file
  std::vector<CodeOwner> owners = profile.code_owners;
  owners.resize(profile.frames.size(), CodeOwner::kUnsaid);
  for (size_t i = 0; i < owners.size(); ++i) {
    if (owners[i] != CodeOwner::kUnsaid) continue;
    const Frame& frame = profile.frames[i];
    const bool has_module = frame.module < of_modules.size();
    const bool is_of_program =
        has_program && has_module && profile.modules[frame.module].path == profile.run.executable;
    if (has_module && !of_modules[frame.module].empty()) {
      owners[i] = CodeOwner::kLibrary;
    } else if (frame.file.empty()) {
      if (is_of_program && !frame.function.empty()) owners[i] = CodeOwner::kUser;
      // A function in a stripped library: wherever the library lies, the user cannot change it. (Modules that are no
      // files have names like "[JIT]".)
      const bool is_in_other_file =
          has_program && has_module && !is_of_program && !profile.modules[frame.module].path.starts_with('[');
      if (is_in_other_file && frame.function.empty()) owners[i] = CodeOwner::kLibrary;
    } else {
      const auto [file, is_new] = of_files.try_emplace(frame.file, false);
      if (is_new) file->second = library_of_source(frame.file).has_value();
      owners[i] = file->second ? CodeOwner::kLibrary : CodeOwner::kUser;
    }
  }
  return owners;
}

LibraryNames::LibraryNames(const Profile& profile, const std::vector<CodeOwner>& owners)
    : profile_(profile), owners_(owners), of_modules_(names_of_modules(profile)) {}

std::string LibraryNames::of(uint32_t frame) const {
  if (owners_[frame] != CodeOwner::kLibrary) return "";
  const Frame& it = profile_.frames[frame];
  std::string name = library_of_source(it.file).value_or("");
  if (name.empty() && it.module < of_modules_.size()) name = of_modules_[it.module];
  if (name.empty() && it.function.empty() && it.module < of_modules_.size()) {
    name = base_name(profile_.modules[it.module].path);
    name.resize(std::min(name.size(), name.find(".so")));
  }
  return name;
}

}  // namespace heapprof::cli
