// cli/model/analysis/script_frames.h: frames of interpreters and JIT compilers: node, CPython, Java, Ruby, .NET.
//
// What a script asks for is allocated by its interpreter. Where the script's own functions have names (in the map that
// the compiler writes for perf), they are the places, not the interpreter's functions that stand in between; where they
// have none, the one flag that brings them is the answer.
//
// Guarantees
//  - An interpreter is recognised by what stands in the stacks, not by what is loaded, nor by a program's name: a
//    program that merely links to one gets no hint, nor does one that is called "node" and has none of node's
//    functions.
//  - A hint is given only where the nameless code holds a tenth of the peak of the heap, or of mapped memory, and that
//    is a tenth of both.
// Not provided: names for code that an interpreter runs without compiling it, where it writes none.
// Trust:    names are strangers': any bytes.
#pragma once

#include "cli/model/profile/profile.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

enum class FrameRole : uint8_t {
  kOther,
  kScript,       // a named function of a script's: "JS:load (/app/a.js:3)"
  kInterpreter,  // of the interpreter's own, scripts that come with it included
  kRunsScript,   // likewise, and it is there only while a script runs
  kNameless,     // code in no file, without a name
};

// Whether CPython's allocator takes a piece here, for objects of anybody's: who happened to need one more asks for
// none.
bool is_arena(std::string_view function, std::string_view file);

FrameRole frame_role(const Profile& profile, const Frame& frame);
std::vector<FrameRole> frame_roles(const Profile& profile);  // of each frame

struct ScriptHint {
  std::string runtime;      // "node"
  std::string language;     // "JavaScript"
  std::string device;       // "host", "mapped"
  uint64_t peak_bytes = 0;  // of it, in stacks through nameless code
  uint64_t all_bytes = 0;   // the device's peak
  std::string command;      // that brings names: to be pasted
};

std::optional<ScriptHint> find_script_hint(const Profile& profile);

// Whose code the program's stacks go through by frame pointers: "node"; empty: that of no runtime that is known.
std::string running_runtime(const Profile& profile);

}  // namespace heapprof::cli
