// cli/model/analysis/python/keeps.h: what a Python interpreter keeps until its process ends, and which therefore is no
// leak of the user.
//
// CPython frees most of its memory when it ends, but not all. It keeps what it allocated before it ran any code, its
// table of interned strings, its table of arenas, and modules that stay loaded, with their code objects, types and
// caches.
//
// Guarantees
//  - A stack with a user frame between the allocation and the import machinery counts as none of these, whether the
//    frame is Python or in an object that belongs to no library. So memory that a module-level list of the user keeps
//    live, or that a user's extension leaks, even while it is loaded, stays a leak.
//  - A library's leak counts as none of these if it happens in a call of the user: only what its modules allocate
//    during their first import does.
//  - If outer frames are missing (a truncated stack, a row of small sites without its outer frames), nothing is
//    assumed.
#pragma once

#include "cli/model/profile/profile.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace heapprof::cli {

enum class PythonKeep : uint8_t { kNone, kStart, kStrings, kArenas, kModules };

// The texts of the built-in rules.
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

// The kind of each site of the device, if it leaked; empty without Python frames.
std::vector<PythonKeep> find_python_keeps(const Profile& profile, const Device& device);

}  // namespace heapprof::cli
