// cli/model/analysis/python/rows.h: what a row of small sites keeps of a Python program's stacks besides its innermost
// frames: the lines of the user's own that asked, and the import that they made.
//
// The innermost frames are the interpreter's and libraries', and the user's line may be a hundred frames further out.
// Without it, a row would be of nobody.
#pragma once

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
  // same order: none if one of the user's own is among the first.
  void find(const std::vector<uint32_t>& stack, size_t taken, std::vector<uint32_t>* besides) const;

  // What find() asks of a frame.
  static constexpr size_t kMostOwn = 4;  // frames of the user's own: who asked, and who called
  PythonFrame kind(uint32_t frame) const { return frames_->of_frame(frame); }
  bool is_python(uint32_t frame) const { return is_of_python(profile_, profile_.frames[frame]); }
  bool is_called(uint32_t frame, std::string_view name) const { return profile_.frames[frame].function == name; }

 private:
  // Where there is nothing of the user's own: that the interpreter started.
  void find_start(const std::vector<uint32_t>& stack, size_t taken, std::vector<uint32_t>* besides) const;

  const Profile& profile_;
  std::optional<PythonFrames> frames_;
};

}  // namespace heapprof::cli
