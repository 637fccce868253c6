// cli/model/analysis/python/places.h: which nodes of a Python program's stacks are user frames, and which node is the
// place of a stack without user frames. These are the rules of cli/model/analysis/places.h for Python.
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

  // Whether the node is a user frame. Must be called for all nodes, in their order. kind: the kind of the node's frame.
  bool is_users(const Profile& profile, uint32_t node, FrameKind kind);
  // The place of a stack that ends at the node and has no user frame; 0: no place.
  uint32_t instead(uint32_t node) const { return instead_[node]; }
  bool hid_libraries() const { return !is_any_; }

 private:
  void find_instead(const Profile& profile, uint32_t node, PythonFrame frame);
  uint32_t number_of(const Profile& profile, uint32_t frame);

  PythonFrames frames_;
  bool is_any_;                    // library frames are places, too
  std::vector<bool> is_inside_;    // by node: inside a Python frame, or one itself
  std::vector<uint32_t> package_;  // by node: package of the outermost package frame; 0: no package
  std::vector<uint32_t> instead_;
  std::map<uint32_t, uint32_t> package_of_frame_;
  std::map<std::string, uint32_t> numbers_;  // of packages, from 1
};

}  // namespace heapprof::cli
