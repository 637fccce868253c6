// cli/model/analysis/python/places.cc: C functions are user frames if their object is the user's, or if they are
// outside all Python frames in a program that embeds an interpreter.
//
// A program that is itself installed (python -m black) has no user frame. Then the package of the outermost package
// frame counts as the program, and the innermost frame of that package is the place. If there is no package frame, the
// place is the innermost frame of the standard library.
#include "cli/model/analysis/python/places.h"

namespace heapprof::cli {

PythonPlaces::PythonPlaces(const Profile& profile)
    : frames_(profile),
      is_any_(profile.shows_libraries),
      is_inside_(profile.nodes.size()),
      package_(profile.nodes.size()),
      instead_(profile.nodes.size()) {}

bool PythonPlaces::is_users(const Profile& profile, uint32_t node, FrameKind kind) {
  const uint32_t parent = profile.nodes[node].parent;
  const PythonFrame frame = frames_.of_node(node);
  is_inside_[node] = is_inside_[parent] || frames_.is_python(node);
  find_instead(profile, node, frame);
  switch (frame) {
    case PythonFrame::kOwn:
    case PythonFrame::kMark: return true;
    case PythonFrame::kPackage:
    case PythonFrame::kStandard: return is_any_;
    case PythonFrame::kHost: return !is_inside_[parent];
    case PythonFrame::kLibrary: return !is_inside_[parent] && kind == FrameKind::kUser;
    case PythonFrame::kImport:
    case PythonFrame::kGenerated:
    case PythonFrame::kEvaluator:
    case PythonFrame::kInterpreter:
    case PythonFrame::kHidden:
    case PythonFrame::kSmallSites: return false;
  }
  return false;
}

void PythonPlaces::find_instead(const Profile& profile, uint32_t node, PythonFrame frame) {
  const uint32_t parent = profile.nodes[node].parent;
  package_[node] = package_[parent];
  instead_[node] = instead_[parent];
  if (frame == PythonFrame::kStandard && package_[node] == 0) instead_[node] = node;
  if (frame == PythonFrame::kGenerated && instead_[node] == 0) instead_[node] = node;  // better than a C function
  if (frame != PythonFrame::kPackage) return;
  const uint32_t package = number_of(profile, profile.nodes[node].frame);
  if (package_[node] == 0) package_[node] = package;
  if (package_[node] == package) instead_[node] = node;
}

uint32_t PythonPlaces::number_of(const Profile& profile, uint32_t frame) {
  const auto [known, is_new] = package_of_frame_.try_emplace(frame, 0);
  if (!is_new) return known->second;
  const auto next = static_cast<uint32_t>(numbers_.size() + 1);
  known->second = numbers_.try_emplace(frames_.paths().package(profile.frames[frame].file), next).first->second;
  return known->second;
}

}  // namespace heapprof::cli
