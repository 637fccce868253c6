// cli/model/analysis/group_rows.h: finds, for each small site of a recording, the row that it is summed into (group.h).
// A row has as many of the innermost user frames as possible while the number of rows stays small.
//
// Rows are nodes of a separate tree whose paths run from the innermost frame outwards. So the row of eight user frames
// lies on the path to the row of sixteen. Only rows in use become stacks of the profile.
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
  std::vector<uint32_t> stands_for;  // by frame: the first frame that reads alike

  uint32_t outermost(uint32_t location) const { return stands_for[start[location + 1] - 1]; }
};

class GroupRows {
 public:
  // Adds the frame "[small sites]", which replaces the outer frames in all rows. From then until add_root() is called,
  // GroupRows only reads the profile's frames and modules, and changes nothing.
  GroupRows(const Recording& recording, const NamedLocations& names, Profile* profile);

  struct Asked {
    uint32_t stack;
    bool has_leaks;  // its innermost frames decide which leaks are suppressed (suppressions.h)
  };
  // The row of each stack. There are at most most_rows different rows, unless more functions or lines allocate.
  std::vector<uint32_t> find(const std::vector<Asked>& stacks, size_t most_rows);
  void add_root();  // adds the node of "[small sites]"; call it once, before add_to_profile()
  // Makes the row's stack. Returns its node.
  uint32_t add_to_profile(uint32_t row);

 private:
  uint32_t row(uint32_t stack, int user_frames);
  uint32_t with_besides(uint32_t innermost);  // the row `innermost`, extended outwards by the frames in besides_
  // Sets besides_ to what PythonRows::find() would find, from the facts in outwards_ about each stack node.
  bool find_python(uint32_t stack, size_t taken);
  void learn_python();
  struct Outwards;
  struct Traits;
  void look_inwards(uint32_t node, const Traits& traits, Outwards* here);
  bool is_user(uint32_t frame);

  const Recording& recording_;
  const NamedLocations& names_;
  Profile* profile_;
  std::vector<FrameNode> tree_;
  NodeTable table_;
  enum class Kind : uint8_t { kUnknown, kUser, kOther };
  std::vector<Kind> kinds_;  // by frame
  PythonRows python_;
  // What PythonRows::find() looks for in a stack, from this node outwards. The values are nodes; 0: no such node.
  // Unless stated otherwise, a field considers only nodes further in than `own`.
  struct Outwards {
    uint32_t depth;          // frames
    uint32_t own;            // the innermost with a frame of the user's own
    uint32_t machinery;      // the outermost of the import machinery
    uint32_t module;         // further in than `machinery`, the outermost of other Python code
    uint32_t find;           // the outermost that looks a module up
    uint32_t line;           // the innermost line of a library
    uint32_t run;            // the node that represents the innermost run (successive frames of one package)
    uint32_t outer_run;      // of a node that represents a run: the node of the run around it
    uint32_t start;          // the outermost that starts the interpreter, or ends it
    uint32_t unread;         // the outermost function that runs Python and has no Python frame further in
    uint32_t tensor;         // the outermost that allocates a tensor
    uint32_t instead;        // PythonRows::stands_in()
    uint32_t interpreter;    // the outermost function of the interpreter
    uint32_t outside;        // the innermost function of a library or of the host around all Python
    uint32_t first_package;  // number of the outermost package frame's package, plus one; 0: no package
    uint32_t inside;         // the outermost frame of Python, regardless of `own`
  };
  std::vector<Outwards> outwards_;
  // By location, for rows of Python programs. Frames are indexes into stands_for; kNone: no such frame.
  static constexpr uint32_t kNone = 0xffffffff;
  struct Traits {
    PythonFrame kind;  // of the innermost frame; a Python location has only one
    bool has_own, is_python, is_find, is_line;
    uint32_t package;                                                                       // that of package_frame
    uint32_t package_frame, start_frame, evaluator_frame, tensor_frame, interpreter_frame;  // the outermost such frames
    uint32_t outside_frame;                                                                 // the innermost
  };
  std::vector<Traits> traits_;
  struct Kept {
    uint32_t place;  // counted from the innermost frame
    uint32_t frame;
    bool operator==(const Kept& other) const { return place == other.place; }
    bool operator<(const Kept& other) const { return place < other.place; }
  };
  std::vector<Kept> kept_;
  std::vector<uint32_t> besides_;
  uint32_t root_frame_ = 0;  // "[small sites]"
  uint32_t root_ = 0;        // the node of "[small sites]"
};

}  // namespace heapprof::cli
