// cli/model/analysis/python/places.h: which nodes of a Python program's stacks are the user's own, and what stands in
// where a stack has none: the rules of cli/model/analysis/places.h for Python.
#pragma once

#include "cli/model/analysis/frame_kind.h"
#include "cli/model/analysis/python/frames.h"
#include "cli/model/profile/profile.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace heapprof::cli {

class PythonPlaces {
 public:
  explicit PythonPlaces(const Profile& profile);

  // To be asked in the order of nodes. kind: of the node's frame.
  bool is_users(const Profile& profile, uint32_t node, FrameKind kind);
  // The place of a stack that ends at the node, where nothing of it is the user's own; 0: there is none.
  uint32_t instead(uint32_t node) const { return instead_[node]; }
  bool hid_libraries() const { return !is_any_; }

 private:
  void find_instead(const Profile& profile, uint32_t node, PythonFrame frame);
  uint32_t number_of(const Profile& profile, uint32_t frame);

  PythonFrames frames_;
  bool is_any_;                    // frames of libraries are places, too
  std::vector<bool> is_inside_;    // by node: of a frame of Python, or it is one
  std::vector<uint32_t> package_;  // by node: of the outermost frame of any package; 0: there is none
  std::vector<uint32_t> instead_;
  std::map<uint32_t, uint32_t> package_of_frame_;
  std::map<std::string, uint32_t> numbers_;  // of packages, from 1
};

}  // namespace heapprof::cli
