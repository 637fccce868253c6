// cli/model/analysis/python/frames.cc: a Python frame is classified by its source file, any other frame by its object
// file.
#include "cli/model/analysis/python/frames.h"

#include "cli/model/analysis/frame_kind.h"
#include "cli/model/analysis/script_frames.h"
#include "cli/model/profile/frame_text.h"
#include "cli/model/profile/python_code.h"

namespace heapprof::cli {

PythonFrames::PythonFrames(const Profile& profile) : profile_(profile), paths_(profile) {
  for (uint32_t i = 0; i < profile.modules.size(); ++i) {
    if (profile.modules[i].path == kPythonModule) module_ = i;
  }
  frames_.reserve(profile.frames.size());
  for (uint32_t i = 0; i < profile.frames.size(); ++i) {
    const CodeOwner owner = i < profile.code_owners.size() ? profile.code_owners[i] : CodeOwner::kUnsaid;
    frames_.push_back(find(profile.frames[i]));
    if (frames_[i] == PythonFrame::kMark || owner == CodeOwner::kUnsaid) continue;
    const PythonFrame of_library =
        is_of_python(profile, profile.frames[i]) ? PythonFrame::kPackage : PythonFrame::kLibrary;
    frames_[i] = owner == CodeOwner::kUser ? PythonFrame::kOwn : of_library;
  }
}

PythonFrame PythonFrames::find(const Frame& frame) const {
  if (is_of_python(profile_, frame)) {
    if (is_python_mark(profile_, frame)) return PythonFrame::kMark;
    // Code compiled without a file name counts for the code that compiled it; nothing is assumed about unknown code.
    if (frame.file.empty()) return frame.function == kUnknownPython ? PythonFrame::kOwn : PythonFrame::kGenerated;
    switch (paths_.origin(frame.file)) {
      case PythonOrigin::kOwn: return PythonFrame::kOwn;
      case PythonOrigin::kPackage: return PythonFrame::kPackage;
      case PythonOrigin::kStandard: return PythonFrame::kStandard;
      case PythonOrigin::kImport: return PythonFrame::kImport;
      case PythonOrigin::kGenerated: return PythonFrame::kGenerated;
    }
  }
  if (frame.svma == 0 && frame.function == kSmallSitesText) return PythonFrame::kSmallSites;
  if (is_arena(frame.function, frame.file)) return PythonFrame::kOwn;
  if (frame_kind(profile_, frame) != FrameKind::kUser) return PythonFrame::kHidden;
  if (frame.module >= profile_.modules.size()) return PythonFrame::kOwn;
  switch (paths_.object(frame.module)) {
    case ObjectOrigin::kOwn: return PythonFrame::kOwn;
    case ObjectOrigin::kHost: return is_evaluator_name(frame.function) ? PythonFrame::kEvaluator : PythonFrame::kHost;
    case ObjectOrigin::kInterpreter:
      return is_evaluator_name(frame.function) ? PythonFrame::kEvaluator : PythonFrame::kInterpreter;
    case ObjectOrigin::kPackage:
    case ObjectOrigin::kStandard:
    case ObjectOrigin::kSystem: return PythonFrame::kLibrary;
  }
  return PythonFrame::kOwn;
}

}  // namespace heapprof::cli
