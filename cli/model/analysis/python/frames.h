// cli/model/analysis/python/frames.h: what each frame of a Python program's stacks is: the user's own, a library's, the
// interpreter's.
//
// All that looks at stacks of Python goes by this: places, rows of imports, what the interpreter keeps, packages.
#pragma once

#include "cli/model/analysis/python/paths.h"
#include "cli/model/profile/profile.h"

#include <cstdint>
#include <vector>

namespace heapprof::cli {

enum class PythonFrame : uint8_t {
  kOwn,       // the user's, of Python or of an object that is no library's
  kHost,      // of a program that has the interpreter inside: its own further out than Python, the interpreter's inside
  kMark,      // added: "import pandas"
  kPackage,   // of Python, and so are the next three
  kStandard,  //
  kImport,    // the import machinery
  kGenerated,    // made by code: it stands for who made it
  kEvaluator,    // the interpreter's, and it is there only while Python runs
  kInterpreter,  // the interpreter's
  kLibrary,      // of an object that is a package's, the standard library's or the system's
  kHidden,       // the allocator's, C++'s standard library's, the runtime's
  kSmallSites    // stands for the outer frames of many
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
  uint32_t module_ = kNoModule;  // that of Python's frames
  std::vector<PythonFrame> frames_;
};

}  // namespace heapprof::cli
