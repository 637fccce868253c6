// cli/model/analysis/python/frames.h: whether each frame of a Python program's stacks belongs to the user, a library or
// the interpreter.
//
// All code that examines Python stacks uses this: places, rows of imports, what the interpreter keeps, packages.
#pragma once

#include "cli/model/analysis/python/paths.h"
#include "cli/model/profile/profile.h"

#include <cstdint>
#include <vector>

namespace heapprof::cli {

enum class PythonFrame : uint8_t {
  kOwn,          // the user's: Python, or an object that belongs to no library
  kHost,         // of a program that embeds the interpreter: the program's outside Python, the interpreter's inside
  kMark,         // added: "import pandas"
  kPackage,      // a Python frame, like the next three
  kStandard,     //
  kImport,       // the import machinery
  kGenerated,    // made by code: it counts for the code that made it
  kEvaluator,    // the interpreter's, and on the stack only while Python runs
  kInterpreter,  // the interpreter's
  kLibrary,      // of an object of a package, the standard library or the system
  kHidden,       // the allocator's, C++'s standard library's, the runtime's
  kSmallSites    // represents the outer frames of many sites
};

class PythonFrames {
 public:
  // Keeps a reference to the profile. pre: has_python(profile)
  explicit PythonFrames(const Profile& profile);

  PythonFrame of_frame(uint32_t frame) const { return frames_[frame]; }
  PythonFrame of_node(uint32_t node) const { return frames_[profile_.nodes[node].frame]; }
  bool is_python(uint32_t node) const { return profile_.frames[profile_.nodes[node].frame].module == module_; }
  const PythonPaths& paths() const { return paths_; }

 private:
  PythonFrame find(const Frame& frame) const;

  const Profile& profile_;
  PythonPaths paths_;
  uint32_t module_ = kNoModule;  // the module of Python frames
  std::vector<PythonFrame> frames_;
};

}  // namespace heapprof::cli
