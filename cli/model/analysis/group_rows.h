// cli/model/analysis/group_rows.h: the rows of a recording's small sites: as many of the innermost user frames as still
// give few rows.
//
// Rows are found in a tree of their own, from the innermost frame outwards: there, the row of eight user frames lies on
// the way to that of sixteen, and a row is a number. Only those in use become stacks of the profile.
#pragma once

#include "cli/model/analysis/python/rows.h"
#include "cli/model/profile/node_table.h"
#include "cli/model/profile/profile.h"
#include "cli/model/profile/recording.h"

#include <cstdint>
#include <vector>

namespace heapprof::cli {

// The frames of a recording's locations in a profile.
struct NamedLocations {
  Profile* profile = nullptr;
  std::vector<uint32_t> start;       // those of location i: start[i] … start[i + 1], innermost first
  std::vector<uint32_t> stands_for;  // by frame: the first that is alike

  uint32_t outermost(uint32_t location) const { return stands_for[start[location + 1] - 1]; }
};

class GroupRows {
 public:
  // Adds the frame that stands for the outer ones of all rows. Afterwards only the frames and modules are read, and
  // nothing is changed until add_root() is called.
  GroupRows(const Recording& recording, const NamedLocations& names, Profile* profile);

  // The row of each stack; most_rows of them at most, unless there are more functions that allocate.
  std::vector<uint32_t> find(const std::vector<uint32_t>& stacks, size_t most_rows);
  void add_root();  // that frame's node: once, before the first row's
  // Makes the row's stack. Returns its node.
  uint32_t add_to_profile(uint32_t row);

 private:
  uint32_t row(uint32_t stack, int user_frames);
  uint32_t row_of_python(uint32_t stack, uint32_t innermost, size_t taken);
  // What PythonRows::find() finds, by what is known of each stack node; false: it has to be asked.
  bool find_python(uint32_t stack, size_t taken);
  void learn_python();
  bool is_user(uint32_t frame);

  const Recording& recording_;
  const NamedLocations& names_;
  Profile* profile_;
  std::vector<FrameNode> tree_;
  NodeTable table_;
  enum class Kind : uint8_t { kUnknown, kUser, kOther };
  std::vector<Kind> kinds_;  // by frame
  PythonRows python_;
  // What is further out than a stack node, itself included, as PythonRows::find() looks for it; nodes, 0: none.
  struct Outwards {
    uint32_t depth;   // frames
    uint32_t own;     // the innermost with a frame of the user's own
    uint32_t find;    // below that, the outermost that looks a module up for an import
    uint32_t module;  // below that, the outermost that runs something else
  };
  std::vector<Outwards> outwards_;
  // By location, of Python's rows.
  struct Traits {
    bool has_own, is_python, is_import, is_find;
  };
  std::vector<Traits> traits_;
  std::vector<uint32_t> path_;
  std::vector<uint32_t> besides_;
  uint32_t root_frame_ = 0;  // "[small sites]"
  uint32_t root_ = 0;        // the node of "[small sites]"
};

}  // namespace heapprof::cli
