// cli/model/analysis/python/keeps.h: memory that a Python interpreter keeps until its process ends, and which is
// therefore not a leak of the user.
//
// CPython frees most of its memory when it ends, but not all. It keeps what it allocated before it ran any code, its
// table of interned strings, its table of arenas, and modules that stay loaded, with their code objects, types and
// caches.
//
// Guarantees
//  - If a user frame is between the allocation and the import machinery, the interpreter is not considered the keeper.
//    The frame may be Python, or in an object that belongs to no library. So memory stays a leak if a user's
//    module-level list keeps it live, or if a user's extension leaks it, even while the extension is loaded.
//  - If a user's call makes a library leak, that stays a leak, too: only what a library's modules allocate during their
//    first import counts as kept.
//  - If outer frames are missing (a truncated stack, a row of small sites without its outer frames), the memory does
//    not count as made at the interpreter's start.
#pragma once

#include "cli/model/profile/profile.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace heapprof::cli {

enum class PythonKeep : uint8_t { kNone, kStart, kStrings, kArenas, kModules };

// The words of the built-in suppression rules.
struct PythonKeepWords {
  PythonKeep keep;
  std::string_view text;
  std::string_view reason;
};
inline constexpr std::array<PythonKeepWords, 4> kPythonKeeps = {{
    {PythonKeep::kStart, "python: start", "made before any code ran, kept to the end"},
    {PythonKeep::kStrings, "python: interned strings", "the interpreter's table of interned strings"},
    {PythonKeep::kArenas, "python: table of arenas", "the table of arenas, which hold small objects"},
    {PythonKeep::kModules, "python: imported modules", "modules stay loaded, with their types and caches"},
}};

// For each site of the device that leaked, what kind of kept memory it is. Empty if the profile has no Python frames.
std::vector<PythonKeep> find_python_keeps(const Profile& profile, const Device& device);

}  // namespace heapprof::cli
