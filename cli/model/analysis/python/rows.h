// cli/model/analysis/python/rows.h: the frames that a row of small sites keeps of a Python program's stacks besides its
// innermost ones: those that identify places, packages and imports.
//
// The innermost frames are the interpreter's and libraries', and the user's line may be a hundred frames further out.
// Without the user's line, a row would have no place. Without the allocating line of the library, `report --libraries`
// would show the line that imported the library, with all that the library's lines allocated.
//
// The kept frames are, innermost first:
//  - inside Python, for each run of frames of one package its innermost line, or a C function if the package has no
//    line there; and the function that allocated a PyTorch tensor (cpu_tensors.h);
//  - for an import: the importing line, the outermost frame of the machinery, and the one that looks the module up;
//    what runs first inside it (which names the module), and a reload() around it;
//  - frames which show that the interpreter started or ended, or that Python frames were not read; the innermost
//    function of a library or host program outside all Python frames; and the outermost Python frame if its code was
//    generated;
//  - the user's own lines, at most kMostOwn. Unless the innermost of them is a Python line, also the line that
//    represents the program (places.h). If there are neither user lines nor packages, a function of the interpreter.
#pragma once

#include "cli/model/analysis/cpu_tensors.h"
#include "cli/model/analysis/python/frames.h"
#include "cli/model/analysis/script_frames.h"
#include "cli/model/profile/profile.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace heapprof::cli {

class PythonRows {
 public:
  // Uses only the frames, and keeps a reference to the profile.
  explicit PythonRows(const Profile& profile);

  bool has_any() const { return frames_.has_value(); }
  // stack: all frames, innermost first; the row already has the first `taken`. Sets *besides to the further frames that
  // the row keeps, in the same order, with kLeftOut wherever frames are left out. *besides is empty if a user frame is
  // among the first `taken`. Returns false if the kept frames do not show whose memory it is.
  static constexpr uint32_t kLeftOut = 0xffffffff;
  bool find(const std::vector<uint32_t>& stack, size_t taken, std::vector<uint32_t>* besides) const;

  // What find() needs to know about a frame.
  static constexpr size_t kMostOwn = 4;    // most user frames kept: the allocating one and its callers
  static constexpr size_t kMostRuns = 16;  // the innermost ones are kept
  PythonFrame kind(uint32_t frame) const { return frames_->of_frame(frame); }
  bool is_python(uint32_t frame) const { return is_of_python(profile_, profile_.frames[frame]); }
  bool is_called(uint32_t frame, std::string_view name) const { return profile_.frames[frame].function == name; }
  bool is_start(uint32_t frame) const {
    const std::string_view name = profile_.frames[frame].function;
    return name.starts_with("Py_Initialize") || name.starts_with("Py_Finalize");
  }
  bool asks_for_tensor(uint32_t frame) const { return is_cpu_tensor_function(profile_.frames[frame].function); }
  bool is_line(uint32_t frame) const {
    return kind(frame) == PythonFrame::kPackage || kind(frame) == PythonFrame::kStandard;
  }
  uint32_t package(uint32_t frame) const { return packages_[frame]; }  // its number; 0: no package
  // Whether a frame represents a program without user frames, and replaces a frame further out that did so (places.cc).
  // is_first: its package is that of the outermost package frame; has_package: a package frame exists; has_any: another
  // frame represents the program
  static bool stands_in(PythonFrame kind, bool is_first, bool has_package, bool has_any) {
    return (kind == PythonFrame::kPackage && is_first) || (kind == PythonFrame::kStandard && !has_package) ||
           (kind == PythonFrame::kGenerated && !has_any);
  }

 private:
  const Profile& profile_;
  std::optional<PythonFrames> frames_;
  std::vector<uint32_t> packages_;  // by frame
};

}  // namespace heapprof::cli
