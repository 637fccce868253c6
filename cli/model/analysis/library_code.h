// cli/model/analysis/library_code.h: whose code a native frame is: a library's, by where its source file or its module
// lies, or the program's own.
//
// Places are functions of the program's own: a library's functions are shown only if none of the program's called them
// (cli/model/analysis/places.h). Headers in /usr/include, fetched packages (crates, npm, CMake's FetchContent, vcpkg,
// Conan, Bazel, Go's modules), and shared libraries in the system's folders are libraries', and so are functions
// without names in any shared library: a stripped one that the program ships.
//
// Guarantees
//  - It goes by paths, never by the names of functions, which any program may use.
//  - A module's folder says nothing where the program itself lies in a folder of the system: a distribution's program
//    is one with its libraries.
//  - A rule of the user's (Profile::code_owners) comes before what is built in.
// Not provided: certainty. What was copied into the program's own source tree is the program's.
// Trust:    paths are strangers': any bytes.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

// By frame: of a library; of the program's own for certain, as it has a source file, or a name in the program's
// executable; or neither is known. Cost: linear in frames, and a look at each source file's path.
std::vector<CodeOwner> find_code_owners(const Profile& profile);

// Names of libraries: "boost", "serde", "libxml2".
class LibraryNames {
 public:
  // Keeps references to both. owners: find_code_owners().
  LibraryNames(const Profile& profile, const std::vector<CodeOwner>& owners);

  // Empty: the frame is of no library, or of one without a name.
  std::string of(uint32_t frame) const;

 private:
  const Profile& profile_;
  const std::vector<CodeOwner>& owners_;
  std::vector<std::string> of_modules_;
};

// The library that a source file belongs to: "" if it has no name; nullopt: it is the program's own, or not known.
std::optional<std::string> library_of_source(std::string_view file);

// The same of a shared library. Empty: the system has no such one.
std::string library_of_module(std::string_view path);

// Whether a folder of the system holds the executable: /usr/bin and its kin.
bool is_system_program(std::string_view path);

}  // namespace heapprof::cli
