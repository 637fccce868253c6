// cli/model/analysis/python/marks.cc: parents have smaller numbers: one pass finds the statements and the names of
// their imports, a second one rebuilds the tree with the added frames.
//
// No frame of the machinery has the imported module's name. It is taken from the first file that runs inside the
// machinery; for a module written in C, from the object file's name.
#include "cli/model/analysis/python/marks.h"

#include "cli/base/text.h"
#include "cli/model/analysis/python/frames.h"
#include "cli/model/profile/python_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace heapprof::cli {
namespace {

constexpr uint32_t kNotAdded = 0xffffffff;

// The position of a statement; the start of the interpreter is in no file.
struct Statement {
  std::string file;
  uint32_t line = 0;
  std::set<std::string> modules;  // names of modules that the statement imports
  std::set<std::string> objects;  // the same, for modules written in C
  uint32_t frame = kNotAdded;     // the added frame
};

class Marker {
 public:
  explicit Marker(Profile* profile) : profile_(profile), frames_(*profile) {}

  void mark() {
    find_statements();
    if (statements_.empty()) return mark_starts();
    add_frames();
    add_nodes();
    mark_starts();
  }

 private:
  // What is known of a node from the nodes further out.
  struct State {
    uint32_t python = 0;             // the innermost Python frame, except the machinery's and generated ones
    bool is_marked = false;          // inside a statement, without a user frame since
    uint32_t statement = kNotAdded;  // a statement whose module is not known yet: only machinery frames since
    uint32_t begins = kNotAdded;     // the statement whose frame is inserted before this node
    bool is_only_python = true;      // only the interpreter's own frames, and no evaluator
    bool has_interpreter = false;    // at least one interpreter frame
    bool starts = false;             // the interpreter starts
  };

  void find_statements() {
    states_.resize(profile_->nodes.size());
    for (uint32_t node = 1; node < profile_->nodes.size(); ++node) {
      State& state = states_[node];
      state = states_[profile_->nodes[node].parent];
      state.begins = kNotAdded;
      look_at(node, &state);
    }
  }

  void look_at(uint32_t node, State* state) {
    const Frame& frame = profile_->frames[profile_->nodes[node].frame];
    const PythonFrame kind = frames_.of_node(node);
    // The frames that a row of small sites leaves out include a Python frame only if a kept frame represents it
    // (rows.h).
    const bool is_hidden =
        kind == PythonFrame::kHidden || kind == PythonFrame::kInterpreter || kind == PythonFrame::kSmallSites;
    state->is_only_python = state->is_only_python && is_hidden;
    state->has_interpreter = state->has_interpreter || kind == PythonFrame::kInterpreter;
    switch (kind) {
      case PythonFrame::kOwn:
        frames_.is_python(node) ? name_module(frame, state) : name_object(frame, state);
        state->is_marked = false;
        state->python = frames_.is_python(node) ? node : state->python;
        return;
      case PythonFrame::kMark: state->is_marked = true; return;
      case PythonFrame::kPackage:
      case PythonFrame::kStandard:
        if (state->python == 0 && !state->is_marked && (state->starts || is_site(frame.file))) begin(state);
        name_module(frame, state);
        state->python = node;
        return;
      case PythonFrame::kImport:
        if (!state->is_marked) begin(state);
        return;
      case PythonFrame::kLibrary: name_object(frame, state); return;
      case PythonFrame::kInterpreter:
        state->starts = state->starts || frame.function.starts_with("Py_Initialize");
        return;
      case PythonFrame::kHost:
      case PythonFrame::kGenerated:
      case PythonFrame::kEvaluator:
      case PythonFrame::kHidden:
      case PythonFrame::kSmallSites: return;
    }
  }

  // Whether the interpreter runs the file before the script.
  static bool is_site(std::string_view file) { return file == "<frozen site>" || file.ends_with("/site.py"); }

  void begin(State* state) {
    const Frame* const at = state->python == 0 ? nullptr : &profile_->frames[profile_->nodes[state->python].frame];
    const std::pair<std::string, uint32_t> key = {at == nullptr ? "" : at->file, at == nullptr ? 0 : at->line};
    const auto [entry, is_new] = number_of_.try_emplace(key, static_cast<uint32_t>(statements_.size()));
    if (is_new) statements_.push_back({key.first, key.second, {}, {}, kNotAdded});
    state->is_marked = true;
    state->statement = entry->second;
    state->begins = entry->second;
  }

  void name_module(const Frame& frame, State* state) {
    const uint32_t statement = std::exchange(state->statement, kNotAdded);
    if (statement == kNotAdded || frame.function != "<module>") return;
    if (std::string name = frames_.paths().package(frame.file); !name.empty())
      statements_[statement].modules.insert(escape_controls(name));
  }

  void name_object(const Frame& frame, State* state) {
    if (state->statement == kNotAdded || frame.module >= profile_->modules.size()) return;
    if (frames_.paths().object(frame.module) == ObjectOrigin::kSystem) return;
    const uint32_t statement = std::exchange(state->statement, kNotAdded);
    if (std::string name = frames_.paths().package(profile_->modules[frame.module].path); !name.empty())
      statements_[statement].objects.insert(escape_controls(name));
  }

  static std::string function_of(const Statement& statement) {
    constexpr size_t kMostNames = 3;
    if (statement.file.empty() && statement.line == 0) return std::string(kPythonStartMark);
    const std::set<std::string>& names = statement.modules.empty() ? statement.objects : statement.modules;
    std::string text(kImportMark);
    size_t count = 0;
    for (const std::string& name : names) {
      if (count == kMostNames) return text + ", …";
      text += (count++ == 0 ? "" : ", ") + name;
    }
    return count == 0 ? text + "of a module" : text;
  }

  uint32_t add_frame(std::string function, std::string file, uint32_t line) {
    Frame frame;
    frame.function = std::move(function);
    frame.file = std::move(file);
    frame.line = line;
    const auto is_python = [](const ProfileModule& module) { return module.path == kPythonModule; };
    frame.module = static_cast<uint32_t>(std::find_if(profile_->modules.begin(), profile_->modules.end(), is_python) -
                                         profile_->modules.begin());
    profile_->frames.push_back(std::move(frame));
    if (!profile_->folds.empty()) profile_->folds.push_back(FrameFold::kNot);
    return static_cast<uint32_t>(profile_->frames.size() - 1);
  }

  void add_frames() {
    for (Statement& statement : statements_) {
      // The import of python -m is in no source file.
      const bool is_typed = statement.file == "<frozen runpy>" || statement.file.ends_with("/runpy.py");
      statement.frame =
          add_frame(function_of(statement), is_typed ? "" : statement.file, is_typed ? 0 : statement.line);
    }
  }

  void add_nodes() {
    std::vector<FrameNode> nodes;
    nodes.reserve(profile_->nodes.size());
    nodes.push_back(profile_->nodes[0]);
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> marks;  // by parent and statement
    std::vector<uint32_t> now_at(profile_->nodes.size());
    for (uint32_t node = 1; node < profile_->nodes.size(); ++node) {
      uint32_t parent = now_at[profile_->nodes[node].parent];
      if (const uint32_t statement = states_[node].begins; statement != kNotAdded) {
        const auto [mark, is_new] = marks.try_emplace({parent, statement}, static_cast<uint32_t>(nodes.size()));
        if (is_new) nodes.push_back({parent, statements_[statement].frame});
        parent = mark->second;
      }
      now_at[node] = static_cast<uint32_t>(nodes.size());
      nodes.push_back({parent, profile_->nodes[node].frame});
    }
    std::vector<State> states(nodes.size());
    for (uint32_t node = 1; node < states_.size(); ++node) states[now_at[node]] = states_[node];
    states_ = std::move(states);
    profile_->nodes = std::move(nodes);
    for (Device& device : profile_->devices) {
      for (Site& site : device.sites) site.node = now_at[site.node];
    }
    for_each_other_node(*profile_, [&](uint32_t& node) { node = now_at[node]; });
  }

  // Stacks with only the interpreter's own functions get the frame as their innermost.
  void mark_starts() {
    uint32_t frame = kNotAdded;
    std::map<uint32_t, uint32_t> marks;  // by the previously innermost node
    for (Device& device : profile_->devices) {
      for (Site& site : device.sites) {
        const State& state = states_[site.node];
        if (site.node == 0 || site.truncated || !state.is_only_python || !state.has_interpreter) continue;
        if (frame == kNotAdded) frame = add_frame(std::string(kPythonStartMark), "", 0);
        const auto [mark, is_new] = marks.try_emplace(site.node, static_cast<uint32_t>(profile_->nodes.size()));
        if (is_new) profile_->nodes.push_back({site.node, frame});
        site.node = mark->second;
      }
    }
  }

  Profile* profile_;
  PythonFrames frames_;
  std::vector<State> states_;  // by node
  std::vector<Statement> statements_;
  std::map<std::pair<std::string, uint32_t>, uint32_t> number_of_;
};

bool is_marked(const Profile& profile) {
  return std::any_of(profile.frames.begin(), profile.frames.end(),
                     [&](const Frame& frame) { return is_python_mark(profile, frame); });
}

}  // namespace

void mark_python(Profile* profile) {
  if (has_python(*profile) && !is_marked(*profile)) Marker(profile).mark();
}

}  // namespace heapprof::cli
