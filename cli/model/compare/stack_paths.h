// cli/model/compare/stack_paths.h: puts the stacks of two profiles into one tree of functions, so that different builds
// can be compared.
//
// A frame is identified by its function's plain name (no parameters, no suffix of a compiler's clone such as .isra or
// .cold) and its module's file name. The main programs of the two profiles count as the same module, whatever their
// file names, and a library's version is ignored. Lines, source files and folders never count. Valgrind and dhat-rs do
// not record the modules of named frames: if one of the two profiles comes from them, only names count. A frame without
// a name is identified by its module, and by its address only if both profiles have the identical module (by build id).
// If the other profile has a name for that address (its module was not stripped), the frame gets that name.
//
// A stack's path is its user functions (cli/model/analysis/frame_kind.h) from the outermost inwards. A function that
// follows itself appears only once, which also merges a compiler's clone with the function that it was split from. The
// path ends at the frame that represents the site in reports (its place, cli/model/analysis/places.h): folded functions
// further in (cli/model/analysis/folding.h) are not part of it. If a stack has no user functions, its path consists of
// that frame alone.
//
// Guarantees
//  - A path's number is larger than those of its prefixes; 0 is no stack. Equal profiles give equal numbers.
// Not provided: a distinction between functions with the same name in one module (static in two files, overloaded).
// They count as one.
// Cost:     linear in frames and nodes.
#pragma once

#include "cli/model/analysis/places.h"
#include "cli/model/profile/node_table.h"
#include "cli/model/profile/profile.h"

#include <array>
#include <cstdint>
#include <vector>

namespace heapprof::cli {

enum Side : size_t { kBase = 0, kCurrent = 1 };
inline constexpr std::array<Side, 2> kSides = {kBase, kCurrent};
inline Side other_side(Side side) { return side == kBase ? kCurrent : kBase; }
template <typename T>
using BySide = std::array<T, 2>;

inline constexpr uint32_t kNoFrame = 0xffffffff;

class StackPaths {
 public:
  // Keeps references to the profiles and trees.
  StackPaths(BySide<const Profile*> profiles, BySide<const PlaceTree*> trees);

  uint32_t path_of(Side side, const Site& site);
  // pre for all functions below, unless stated otherwise: the path is not 0.
  uint32_t innermost(uint32_t path) const { return paths_[path].frame; }  // a function's number
  uint32_t caller(uint32_t path) const { return paths_[path].parent; }    // the path without its innermost function
  size_t length(uint32_t path) const { return lengths_[path]; }           // 0 for path 0
  bool is_subsequence(uint32_t shorter, uint32_t longer) const;
  // Each function of the path sets one bit. If the set of path A lacks a bit that the set of path B has, A lacks a
  // function of B.
  using FunctionSet = std::array<uint64_t, 4>;
  FunctionSet functions_of(uint32_t path) const;

  // Whether the "function" stands for all unnamed functions of a module that differs between the profiles.
  bool is_by_module(uint32_t function) const { return by_module_[function] != 0; }
  // Whether the profile of `side` has the function anywhere.
  bool is_known(Side side, uint32_t function) const { return known_[side][function] != 0; }
  // The path without the functions that the profile of `side` lacks; may be 0.
  uint32_t project(uint32_t path, Side side);

  // The innermost frame of the function in the stack that ends at `node`; kNoFrame if it has none.
  uint32_t find_frame(Side side, uint32_t node, uint32_t function) const;

 private:
  void number_functions();
  void find_paths(Side side);
  uint32_t extend(uint32_t path, uint32_t function);

  BySide<const Profile*> profiles_;
  BySide<const PlaceTree*> trees_;
  BySide<std::vector<uint32_t>> functions_;    // by frame
  BySide<std::vector<uint32_t>> path_of_;      // by node
  BySide<std::vector<char>> known_;            // by function
  std::vector<char> by_module_;                // by function
  std::vector<FrameNode> paths_;               // FrameNode::frame is a function here
  std::vector<uint32_t> lengths_;              // by path
  BySide<std::vector<uint32_t>> projections_;  // by path, as far as computed
  std::vector<uint32_t> chain_;                // of project()
  NodeTable table_{&paths_};
};

}  // namespace heapprof::cli
