// cli/model/analysis/script_frames.h: frames of interpreters and JIT compilers: node, CPython, Java, Ruby, .NET.
//
// A script's memory is allocated by its interpreter. If the script's functions have names (in the map that the compiler
// writes for perf), they are the places, not the interpreter's functions in between. If they have none, heapprof names
// the flag that enables them.
//
// Guarantees
//  - An interpreter is recognised by functions in the stacks, not by loaded libraries or a program's name. There is no
//    hint for a program that only links to one, or that is called "node" without having any of node's functions.
//  - A hint is given only if the nameless code has at least a tenth of the peak of the heap or of mapped memory, and if
//    that peak is at least a tenth of both peaks together.
// Not provided: names of code that an interpreter runs without compiling it, unless the interpreter writes them to the
//           map.
// Trust:    names are untrusted: any bytes.
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
  kScript,       // a named function of a script: "JS:load (/app/a.js:3)"
  kInterpreter,  // of the interpreter, including scripts that come with it
  kRunsScript,   // of the interpreter, and on the stack only while a script runs
  kNameless,     // code in no file, without a name
};

// Whether CPython's allocator takes a new arena here. Objects of all callers go into it, so it belongs to no single
// one.
bool is_arena(std::string_view function, std::string_view file);

FrameRole frame_role(const Profile& profile, const Frame& frame);
std::vector<FrameRole> frame_roles(const Profile& profile);  // of each frame

struct ScriptHint {
  std::string runtime;      // "node"
  std::string language;     // "JavaScript"
  std::string device;       // "host", "mapped"
  uint64_t peak_bytes = 0;  // of the device, in stacks through nameless code
  uint64_t all_bytes = 0;   // the device's peak
  std::string command;      // shell command that enables names
};

std::optional<ScriptHint> find_script_hint(const Profile& profile);

// The runtime whose scripts run in truncated stacks: "node". Its code can be unwound only by frame pointers. Empty if
// there is no such runtime.
std::string running_runtime(const Profile& profile);

}  // namespace heapprof::cli
