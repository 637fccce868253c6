// cli/model/analysis/library_code.h: decides whether a native frame belongs to a library or to the program itself, by
// the path of its source file or its module.
//
// Places are functions of the program: a library's functions are shown only if no function of the program called them
// (cli/model/analysis/places.h). Headers in /usr/include, fetched packages (crates, npm, CMake's FetchContent, vcpkg,
// Conan, Bazel, Go's modules), and shared libraries in the system's folders are library code. So are functions without
// names in any shared library, for example in a stripped library that is shipped with the program.
//
// Guarantees
//  - It uses paths, never the names of functions, which any program may use.
//  - A module's folder is ignored if the program itself lies in a system folder: a distribution's program and its
//    libraries belong together.
//  - A rule of the user (Profile::code_owners) overrides the built-in ones.
// Not provided: certainty. Library code copied into the program's own source tree counts as the program's.
// Trust:    paths are untrusted: any bytes.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

// For each frame: library code, program code or unknown. It is program code only if it has a source file, or a name in
// the program's executable. Cost: linear in frames, and a check of each source file's path.
std::vector<CodeOwner> find_code_owners(const Profile& profile);

// Gives the names of frames' libraries: "boost", "serde", "libxml2".
class LibraryNames {
 public:
  // Keeps references to both. owners: the result of find_code_owners().
  LibraryNames(const Profile& profile, const std::vector<CodeOwner>& owners);

  // Empty: the frame is in no library, or in one without a name.
  std::string of(uint32_t frame) const;

 private:
  const Profile& profile_;
  const std::vector<CodeOwner>& owners_;
  std::vector<std::string> of_modules_;
};

// The library that a source file belongs to; "" if the library has no name; nullopt if the file is the program's own,
// or unknown.
std::optional<std::string> library_of_source(std::string_view file);

// The library's name, from the path of a shared library. Empty if it is neither a system library nor one of a package.
std::string library_of_module(std::string_view path);

// Whether the executable lies in a system folder: /usr/bin and the like.
bool is_system_program(std::string_view path);

}  // namespace heapprof::cli
