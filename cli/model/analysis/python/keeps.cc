// cli/model/analysis/python/keeps.cc: one pass over the nodes, from the outermost frames inwards, decides for each
// stack whether the interpreter keeps its memory. The two tables are recognised by their callers.
//
// The import machinery counts only if it looks a module up in sys.modules (_find_and_load), because that runs a
// module's code once. importlib.reload() and a loader's exec_module() run the code at each call, so what they leave
// does not count as a loaded module.
//
// In a stripped interpreter no name identifies the table of arenas. The table doubles from 16 entries of 48 bytes, so
// all allocations at its address in the code have such sizes, and exactly one block is left. So at most one block can
// be mistaken for it.
#include "cli/model/analysis/python/keeps.h"

#include "cli/model/analysis/python/frames.h"
#include "cli/model/analysis/script_frames.h"

#include <bit>
#include <map>

namespace heapprof::cli {
namespace {

class Keeps {
 public:
  explicit Keeps(const Profile& profile) : profile_(profile), frames_(profile), states_(profile.nodes.size()) {
    for (uint32_t node = 1; node < profile.nodes.size(); ++node) {
      states_[node] = states_[profile.nodes[node].parent];
      look_at(node, &states_[node]);
    }
  }

  std::vector<PythonKeep> find(const Device& device) const {
    const std::map<uint64_t, ArenaPlace> arenas = find_arena_places(device);
    std::vector<PythonKeep> keeps;
    keeps.reserve(device.sites.size());
    for (const Site& site : device.sites) {
      const bool leaks = site.numbers.leaked_bytes > 0 || site.numbers.leaked_blocks > 0;
      keeps.push_back(!leaks || site.node == 0 ? PythonKeep::kNone : find(site, arenas));
    }
    return keeps;
  }

 private:
  // What is known from the nodes between the outermost and this one.
  struct State {
    bool is_start = true;      // so far only the interpreter, import machinery and standard library, as at its start
    bool has_python = false;   // a frame of Python
    bool is_import = false;    // a module is being loaded, without a user frame since
    bool is_reload = false;    // the innermost Python frame runs a module again
    bool is_cut = false;       // outer frames are missing
    bool runs_unread = false;  // the evaluator runs a Python frame that was not read
    bool has_interpreter = false;
    bool is_begun = false;  // the interpreter starts or ends: standard library code is part of that
  };
  // Where an unnamed function of the interpreter allocates blocks.
  struct ArenaPlace {
    bool has_other_sizes = false;
    uint64_t live_blocks = 0;
  };

  const Frame& frame_of(uint32_t node) const { return profile_.frames[profile_.nodes[node].frame]; }

  static bool is_start_file(std::string_view file) {
    const std::string_view name = file.substr(file.rfind('/') + 1);
    return file == "<frozen runpy>" || file == "<frozen site>" || name == "runpy.py" || name == "site.py";
  }

  void look_at(uint32_t node, State* state) const {
    const Frame& frame = frame_of(node);
    const PythonFrame kind = frames_.of_node(node);
    if (frames_.is_python(node)) look_at_python(frame, kind, state);
    switch (kind) {
      case PythonFrame::kOwn:
      case PythonFrame::kHost:
        // The arena allocator belongs to the interpreter, although it counts as a user frame so that it has its own
        // rows.
        if (!is_arena(frame.function, frame.file)) state->is_import = state->is_start = false;
        break;
      // As the outermost frame it may replace any frames; further in it never replaces a user frame (rows.h).
      case PythonFrame::kSmallSites: state->is_cut = state->is_cut || profile_.nodes[node].parent == 0; break;
      case PythonFrame::kEvaluator: state->runs_unread = true; break;
      case PythonFrame::kInterpreter: state->has_interpreter = true; break;
      case PythonFrame::kLibrary:
        if (frames_.paths().object(frame.module) != ObjectOrigin::kStandard) state->is_start = false;
        break;
      case PythonFrame::kPackage:
      case PythonFrame::kGenerated: state->is_start = false; break;
      case PythonFrame::kMark:
      case PythonFrame::kStandard:
      case PythonFrame::kImport:
      case PythonFrame::kHidden: break;
    }
    // A program that embeds an interpreter starts and ends it at any time.
    const bool begins = kind == PythonFrame::kInterpreter || kind == PythonFrame::kHost;
    if (begins && (frame.function.starts_with("Py_Initialize") || frame.function.starts_with("Py_Finalize"))) {
      state->is_start = state->has_interpreter = state->is_begun = true;
      state->has_python = state->is_cut = false;
    }
  }

  void look_at_python(const Frame& frame, PythonFrame kind, State* state) const {
    const bool is_other = kind == PythonFrame::kStandard && !is_start_file(frame.file) && !state->is_begun;
    if (!state->has_python && is_other) state->is_start = false;
    state->has_python = true;
    state->runs_unread = false;
    if (kind == PythonFrame::kImport && frame.function == "_find_and_load" && !state->is_reload)
      state->is_import = true;
    state->is_reload = kind == PythonFrame::kStandard && frame.function == "reload";
  }

  PythonKeep find(const Site& site, const std::map<uint64_t, ArenaPlace>& arenas) const {
    const State& state = states_[site.node];
    const bool is_whole = !site.truncated && !state.is_cut && !state.runs_unread;
    if (is_whole && state.is_start && (state.has_python || state.has_interpreter)) return PythonKeep::kStart;
    if (is_table_of_strings(site.node)) return PythonKeep::kStrings;
    if (is_table_of_arenas(site, arenas)) return PythonKeep::kArenas;
    return state.is_import && !state.runs_unread ? PythonKeep::kModules : PythonKeep::kNone;
  }

  bool is_interpreter(uint32_t node) const {
    const PythonFrame kind = frames_.of_node(node);
    return kind == PythonFrame::kInterpreter || kind == PythonFrame::kHidden || kind == PythonFrame::kHost;
  }

  // Whether a dictionary grows because the interpreter interns a string: only dictionary functions and unnamed ones are
  // in between.
  bool is_table_of_strings(uint32_t node) const {
    for (; node != 0 && is_interpreter(node); node = profile_.nodes[node].parent) {
      const std::string_view function = frame_of(node).function;
      if (function.find("PyUnicode_Intern") != function.npos || function == "intern_common") return true;
      const bool is_between = function.empty() || frames_.of_node(node) == PythonFrame::kHidden ||
                              function.find("dict") != function.npos || function.find("Dict") != function.npos ||
                              function.find("hashtable") != function.npos || function.starts_with("PyMem_");
      if (!is_between) return false;
    }
    return false;
  }

  // The innermost frame's address if it is an unnamed function of the interpreter, otherwise 0.
  uint64_t unnamed_place(const Site& site) const {
    if (site.node == 0 || frames_.of_node(site.node) != PythonFrame::kInterpreter) return 0;
    const Frame& frame = frame_of(site.node);
    return frame.function.empty() ? frame.svma : 0;
  }

  static bool is_arena_table(uint64_t size_bytes) {
    constexpr uint64_t kFirst = 16 * 48;
    return size_bytes >= kFirst && size_bytes % kFirst == 0 && std::has_single_bit(size_bytes / kFirst);
  }

  std::map<uint64_t, ArenaPlace> find_arena_places(const Device& device) const {
    std::map<uint64_t, ArenaPlace> places;
    for (const Site& site : device.sites) {
      const uint64_t place = unnamed_place(site);
      if (place == 0 || site.numbers.total_blocks == 0) continue;
      const SizedNumbers& numbers = site.numbers;
      const bool fits = numbers.smallest_bytes == numbers.largest_bytes && is_arena_table(numbers.largest_bytes) &&
                        site.grouped_stacks == 0;
      places[place].has_other_sizes |= !fits;
      places[place].live_blocks += numbers.leaked_blocks;
    }
    return places;
  }

  bool is_table_of_arenas(const Site& site, const std::map<uint64_t, ArenaPlace>& arenas) const {
    for (uint32_t node = site.node; node != 0; node = profile_.nodes[node].parent) {
      const Frame& frame = frame_of(node);
      if (is_arena(frame.function, frame.file)) return true;
      if (frames_.of_node(node) != PythonFrame::kHidden) break;
    }
    const auto place = arenas.find(unnamed_place(site));
    return place != arenas.end() && !place->second.has_other_sizes && place->second.live_blocks == 1;
  }

  const Profile& profile_;
  PythonFrames frames_;
  std::vector<State> states_;  // by node
};

}  // namespace

std::vector<PythonKeep> find_python_keeps(const Profile& profile, const Device& device) {
  // An arena in mapped memory has objects of all callers, not only of the one that caused it.
  if (!has_python(profile) || is_mapped_device(device.name)) return {};
  return Keeps(profile).find(device);
}

}  // namespace heapprof::cli
