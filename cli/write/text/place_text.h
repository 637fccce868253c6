// cli/write/text/place_text.h: places as lines of text: right-aligned numbers, then function, location and callers or a
// remark.
//
// Guarantees
//  - A line is at most as wide as asked: template arguments are shortened, then the middle of paths, then the remark;
//    numbers never.
//  - Names are escaped: no function name can harm a terminal.
// Not provided: cutting of numbers: those wider than the terminal are printed in full.
#pragma once

#include "cli/model/analysis/places.h"
#include "cli/model/analysis/python/paths.h"
#include "cli/model/profile/profile.h"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

// The names of one profile's frames. Keeps a reference to the profile.
class FrameNames {
 public:
  FrameNames(const Profile& profile, const PlaceTree& tree);

  bool has_name(uint32_t frame) const;
  std::string function(uint32_t frame) const;        // "Tile::decode", "wrap (inferred)"; "0x1a2b" without a name
  std::string location(uint32_t frame) const;        // "src/tile.cc:88", relative to root(), or in a Python package, to
                                                     // the packages' folder; "libfoo.so" without a file
  std::string short_location(uint32_t frame) const;  // "tile.cc:88"
  std::string file(uint32_t frame) const;            // "src/tile.cc"
  std::string place_function(const Place& place) const;
  std::string place_location(const Place& place) const;

  // The folder of the program's own sources, with a trailing "/"; empty if they have no folder in common.
  const std::string& root() const { return root_; }

 private:
  bool is_reserve(uint32_t frame) const;

  const Profile& profile_;
  std::optional<PythonPaths> python_;  // for a profile with Python frames
  std::string root_;
  std::vector<uint32_t> reserve_frames_;  // of libstdc++: exception_reserve.h
};

// "48 B each", or "24 B to 96 B" if the sizes of the place's blocks differ; their mean if they are not known.
std::string each_text(const PlaceNumbers& numbers, bool exact_bytes);

// "load_scene ← main": as many whole names as fit, then "…"; empty without callers. A frame that calls itself is one
// name.
std::string callers_text(const FrameNames& names, const CallerChain& chain, bool with_locations, size_t columns);

struct PlaceLine {
  std::vector<std::string> numbers;
  std::string function;
  std::string location;
  const CallerChain* callers = nullptr;  // shown after the location if there is room
  std::string remark;                    // shown instead if `callers` is null
};

// The line, without numbers, for the place of a node's stack and its callers. The call fills `callers`; the line points
// to them. Node 0: no stack.
PlaceLine line_of(const Profile& profile, const PlaceTree& tree, const FrameNames& names, uint32_t node,
                  CallerChain* callers);

// One text per line, with common columns. `function_column` gets the column of functions. If a function and its
// location do not fit, the location is on a second line of the text.
std::vector<std::string> lay_out(const FrameNames& names, const std::vector<PlaceLine>& lines, size_t indent,
                                 size_t columns, size_t* function_column);

}  // namespace heapprof::cli
