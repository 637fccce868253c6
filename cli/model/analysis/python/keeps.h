// cli/model/analysis/python/keeps.h: what a Python interpreter keeps until its process ends, and what is no leak of the
// user's therefore.
//
// CPython gives back most of what it has when it ends, but not all: what it made before it ran any code, its table of
// interned strings, its table of arenas, and modules that stay loaded, with their code objects, types and caches.
//
// Guarantees
//  - A stack with a frame of the user's own between the allocation and the import machinery is in none of these, be it
//    of Python or of an object that is no library's: what a module-level list of the user's holds, what an extension of
//    theirs forgets, even when it is loaded.
//  - A library's leak is in none of these if it happens in a call of the user's: only what its modules allocate while
//    they are imported for the first time is.
//  - Where outer frames are missing (a truncated stack, a row of small sites without its outer frames) nothing is
//    assumed.
#pragma once

#include "cli/model/profile/profile.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace heapprof::cli {

enum class PythonKeep : uint8_t { kNone, kStart, kStrings, kArenas, kModules };

// As rules that are built in say it.
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

// What each site of the device is, if it leaked; empty without frames of Python.
std::vector<PythonKeep> find_python_keeps(const Profile& profile, const Device& device);

}  // namespace heapprof::cli
