// cli/model/analysis/python/rows.h: what a row of small sites keeps of a Python program's stacks besides its innermost
// frames: all that places, packages and imports are found by.
//
// The innermost frames are the interpreter's and libraries', and the user's line may be a hundred frames further out.
// Without it, a row would have no place; without the line of the library that asked, `report --libraries` would show
// the line that imported it, with all that the library's lines took.
//
// Besides are, innermost first:
//  - inside Python, of each run of frames of one package its innermost line, or a function of C where the package has
//    no line there; and what asked for a tensor of PyTorch's (cpu_tensors.h);
//  - of an import: the line that asked, the outermost frame of the machinery, and that which looks the module up; what
//    runs first inside it (which names the module), and a reload() around it;
//  - that the interpreter started or ended, that Python ran which was not read, and the innermost function of a library
//    or a host around all Python, with the outermost frame of that if code made it;
//  - the user's own lines, kMostOwn of them. Without any of Python: the line that stands for the program instead
//    (places.h). Without any, and without a package, a function of the
//    interpreter's.
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
  // Frames alone are looked at, and a reference to the profile is kept.
  explicit PythonRows(const Profile& profile);

  bool has_any() const { return frames_.has_value(); }
  // stack: all frames, innermost first, of which the row has the first `taken`. The frames that it has besides, in the
  // same order, with kLeftOut where there are others in between; none if one of the user's own is among the first.
  // False: they do not say whose it is.
  static constexpr uint32_t kLeftOut = 0xffffffff;
  bool find(const std::vector<uint32_t>& stack, size_t taken, std::vector<uint32_t>* besides) const;

  // What find() asks of a frame.
  static constexpr size_t kMostOwn = 4;    // frames of the user's own: who asked, and who called
  static constexpr size_t kMostRuns = 16;  // the innermost
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
  uint32_t package(uint32_t frame) const { return packages_[frame]; }  // its number; 0: it says none
  // Whether a frame stands for a program without frames of the user's own, instead of those around it (places.cc).
  // is_first: of the package that the outermost frame of any is of; has_package: there is one; has_any: one stands so
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
