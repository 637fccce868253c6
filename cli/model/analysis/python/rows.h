// cli/model/analysis/python/rows.h: what a row of small sites keeps of a Python program's stacks besides its innermost
// frames: all that places, packages and imports are found by.
//
// The innermost frames are the interpreter's and libraries', and the user's line may be a hundred frames further out.
// Without it, a row would be of nobody; without the line of the library that asked, `report --libraries` would show the
// line that imported it, with all that the library's lines took.
//
// Besides are, innermost first:
//  - inside of the user's own: of each run of frames of one package its innermost line, or a function of C where the
//    package has no line there (outside of all Python the innermost);
//  - what asked for a tensor of PyTorch's (cpu_tensors.h);
//  - of an import: the outermost frame of the machinery, and that which looks the module up; what runs right inside of
//    it (which names the module), and a reload() right outside of it;
//  - the user's own lines, kMostOwn of them. Without any: that the interpreter started or ended, and the line of the
//    outermost import; without a line at all: that Python ran, which was not read.
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
  // False: none of them says whose it is.
  static constexpr uint32_t kLeftOut = 0xffffffff;
  bool find(const std::vector<uint32_t>& stack, size_t taken, std::vector<uint32_t>* besides) const;

  // What find() asks of a frame.
  static constexpr size_t kMostOwn = 4;    // frames of the user's own: who asked, and who called
  static constexpr size_t kMostRuns = 16;  // the innermost, and the outermost as the last
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
  // The number of its package; 0: it says none. kHosts: of the program that has the interpreter inside, which only
  // counts outside of all Python.
  static constexpr uint32_t kHosts = 1;
  uint32_t package(uint32_t frame) const { return packages_[frame]; }
  // Whether inside of Python it stands for its run in place of those further out.
  bool stands_for_run(uint32_t frame) const { return is_line(frame) || kind(frame) == PythonFrame::kHost; }

 private:
  const Profile& profile_;
  std::optional<PythonFrames> frames_;
  std::vector<uint32_t> packages_;  // by frame
};

}  // namespace heapprof::cli
