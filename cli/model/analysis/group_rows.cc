// cli/model/analysis/group_rows.cc: rows may be computed while another thread adds nodes to the profile. So they are
// built in a separate tree, and added to the profile at the end.
#include "cli/model/analysis/group_rows.h"

#include "cli/model/analysis/frame_kind.h"
#include "cli/model/profile/frame_text.h"

#include <algorithm>

namespace heapprof::cli {

GroupRows::GroupRows(const Recording& recording, const NamedLocations& names, Profile* profile)
    : recording_(recording),
      names_(names),
      profile_(profile),
      table_(&tree_),
      kinds_(profile->frames.size(), Kind::kUnknown),
      python_(*profile) {
  Frame pseudo;
  pseudo.function = kSmallSitesText;
  profile->frames.push_back(pseudo);
  root_frame_ = static_cast<uint32_t>(profile->frames.size() - 1);
}

void GroupRows::add_root() {
  profile_->nodes.push_back({0, root_frame_});
  root_ = static_cast<uint32_t>(profile_->nodes.size() - 1);
}

std::vector<uint32_t> GroupRows::find(const std::vector<Asked>& stacks, size_t most_rows) {
  std::vector<uint32_t> rows(stacks.size());
  const int fewest_frames = python_.has_any() ? 0 : 1;
  for (int user_frames = 16;; user_frames /= 2) {
    const bool is_last = user_frames == fewest_frames;
    std::vector<char> is_row;
    size_t count = 0;
    size_t done = 0;
    while (done < stacks.size() && (is_last || count <= most_rows)) {
      rows[done] = row(stacks[done].stack, stacks[done].has_leaks ? std::max(user_frames, 1) : user_frames);
      if (is_row.size() < tree_.size()) is_row.resize(2 * tree_.size(), 0);
      count += is_row[rows[done]] == 0 ? 1 : 0;
      is_row[rows[done]] = 1;
      ++done;
    }
    if (is_last || count <= most_rows) return rows;
  }
}

uint32_t GroupRows::row(uint32_t stack, int user_frames) {
  if (user_frames == 0) {
    if (find_python(stack, 0)) return with_besides(0);
    user_frames = 1;
  }
  uint32_t at = 0;
  size_t taken = 0;
  for (uint32_t node = stack; node != 0; node = recording_.stacks[node].parent) {
    const uint32_t location = recording_.stacks[node].location;
    for (uint32_t i = names_.start[location]; i < names_.start[location + 1]; ++i) {
      const uint32_t frame = names_.stands_for[i];
      at = table_.intern(at, frame);
      ++taken;
      if (!is_user(frame) || --user_frames != 0) continue;
      if (!python_.has_any()) return at;
      find_python(stack, taken);
      return with_besides(at);
    }
  }
  return at;
}

void GroupRows::learn_python() {
  const size_t locations = recording_.locations.size();
  traits_.resize(locations);
  for (size_t i = 0; i < locations; ++i) {
    Traits& traits = traits_[i];
    traits.package_frame = traits.start_frame = traits.evaluator_frame = traits.tensor_frame = kNone;
    traits.interpreter_frame = traits.outside_frame = kNone;
    for (uint32_t at = names_.start[i]; at < names_.start[i + 1]; ++at) {
      const uint32_t frame = names_.stands_for[at];
      const PythonFrame kind = python_.kind(frame);
      const bool is_outside = kind == PythonFrame::kHost || kind == PythonFrame::kLibrary;
      traits.has_own = traits.has_own || kind == PythonFrame::kOwn;
      if (python_.package(frame) != 0) traits.package_frame = at;
      if (python_.is_start(frame)) traits.start_frame = at;
      if (kind == PythonFrame::kEvaluator) traits.evaluator_frame = at;
      if (kind == PythonFrame::kInterpreter) traits.interpreter_frame = at;
      if (python_.asks_for_tensor(frame)) traits.tensor_frame = at;
      if (is_outside && traits.outside_frame == kNone) traits.outside_frame = at;
    }
    const uint32_t frame = names_.stands_for[names_.start[i]];
    traits.kind = python_.kind(frame);
    traits.is_python = python_.is_python(frame);
    traits.is_find = traits.kind == PythonFrame::kImport && python_.is_called(frame, "_find_and_load");
    traits.is_line = python_.is_line(frame);
    if (traits.package_frame != kNone) traits.package = python_.package(names_.stands_for[traits.package_frame]);
  }
  const std::vector<StackNode>& nodes = recording_.stacks;
  outwards_.assign(nodes.size(), Outwards{});
  for (uint32_t i = 1; i < nodes.size(); ++i) {
    const StackNode& node = nodes[i];
    const Traits& traits = traits_[node.location];
    const Outwards& outer = outwards_[node.parent];
    Outwards& here = outwards_[i];
    const uint32_t depth = outer.depth + names_.start[node.location + 1] - names_.start[node.location];
    if (traits.has_own) {
      here.own = i;
      here.inside = outer.inside != 0 ? outer.inside : traits.is_python ? i : 0;
    } else {
      here = outer;
      look_inwards(i, traits, &here);
    }
    here.depth = depth;
  }
}

// here: on entry, a copy of the facts about the next outer node
void GroupRows::look_inwards(uint32_t i, const Traits& traits, Outwards* here) {
  if (here->inside == 0 && traits.is_python) here->inside = i;
  if (here->inside == 0 && traits.outside_frame != kNone) here->outside = i;
  if (here->interpreter == 0 && traits.interpreter_frame != kNone) here->interpreter = i;
  if (traits.is_python) here->unread = 0;
  if (here->unread == 0 && traits.evaluator_frame != kNone) here->unread = i;
  if (here->tensor == 0 && traits.tensor_frame != kNone) here->tensor = i;
  if (here->start == 0 && traits.start_frame != kNone) here->start = i;
  const bool is_import = traits.kind == PythonFrame::kImport;
  if (here->machinery != 0 && here->module == 0 && traits.is_python && !is_import) here->module = i;
  if (here->machinery == 0 && is_import) here->machinery = i;
  if (here->find == 0 && traits.is_find) here->find = i;
  if (traits.is_line) here->line = i;
  if (traits.kind == PythonFrame::kPackage && here->first_package == 0) here->first_package = traits.package + 1;
  if (PythonRows::stands_in(traits.kind, here->first_package == traits.package + 1, here->first_package != 0,
                            here->instead != 0))
    here->instead = i;
  if (traits.package == 0) return;
  const uint32_t run = here->run;
  const bool goes_on = run != 0 && traits_[recording_.stacks[run].location].package == traits.package;
  if (goes_on && !traits.is_line) return;
  here->run = i;
  here->outer_run = goes_on ? outwards_[run].outer_run : run;
}

bool GroupRows::find_python(uint32_t stack, size_t taken) {
  besides_.clear();
  kept_.clear();
  if (outwards_.empty()) learn_python();
  const Outwards& here = outwards_[stack];
  const std::vector<StackNode>& nodes = recording_.stacks;
  // The position of a node's first frame, counted from the innermost frame of the stack.
  const auto place_of = [&](uint32_t node) { return here.depth - outwards_[node].depth; };
  const auto first_frame = [&](uint32_t node) { return names_.start[nodes[node].location]; };
  const auto keep_frame = [&](uint32_t node, uint32_t frame) {
    const uint32_t place = place_of(node) + (frame - first_frame(node));
    if (place >= taken) kept_.push_back({place, names_.stands_for[frame]});
  };
  const auto keep = [&](uint32_t node, uint32_t Traits::*frame) {
    if (node != 0) keep_frame(node, traits_[nodes[node].location].*frame);
  };
  const auto keep_python = [&](uint32_t node) {
    if (node != 0) keep_frame(node, first_frame(node));
  };
  uint32_t own = 0;
  if (here.own != 0) {
    own = first_frame(here.own);
    while (python_.kind(names_.stands_for[own]) != PythonFrame::kOwn) ++own;
    if (place_of(here.own) + (own - first_frame(here.own)) < taken) return true;
  }
  size_t runs = 0;
  for (uint32_t run = here.run; run != 0 && runs < PythonRows::kMostRuns; run = outwards_[run].outer_run, ++runs)
    keep(run, &Traits::package_frame);
  keep(here.tensor, &Traits::tensor_frame);
  keep(here.start, &Traits::start_frame);
  keep(here.unread, &Traits::evaluator_frame);
  keep_python(here.machinery);
  keep_python(here.module);
  keep_python(here.find);
  if (here.find != 0) {
    uint32_t outer = nodes[here.find].parent;
    while (outer != here.own && !traits_[nodes[outer].location].is_python) outer = nodes[outer].parent;
    if (outer != here.own && python_.is_called(names_.stands_for[first_frame(outer)], "reload")) keep_python(outer);
  }
  // Keeps the library line that ran the import, if it lies further in than the user's own frame.
  const uint32_t around = here.machinery == 0 ? 0 : nodes[here.machinery].parent;
  if (outwards_[around].own == here.own) keep_python(outwards_[around].line);
  keep(here.outside, &Traits::outside_frame);
  if (outwards_[here.inside].own == here.own && traits_[nodes[here.inside].location].kind == PythonFrame::kGenerated)
    keep_python(here.inside);
  if (here.own == 0 || !traits_[nodes[here.own].location].is_python) keep_python(here.instead);
  if (here.own == 0 && runs == 0) keep(here.interpreter, &Traits::interpreter_frame);
  std::sort(kept_.begin(), kept_.end());
  kept_.erase(std::unique(kept_.begin(), kept_.end()), kept_.end());
  size_t lines = 0;
  for (uint32_t node = here.own; node != 0 && lines < PythonRows::kMostOwn; node = outwards_[nodes[node].parent].own) {
    const uint32_t end = names_.start[nodes[node].location + 1];
    for (uint32_t at = node == here.own ? own : first_frame(node); at < end && lines < PythonRows::kMostOwn; ++at) {
      if (python_.kind(names_.stands_for[at]) != PythonFrame::kOwn) continue;
      keep_frame(node, at);
      ++lines;
    }
  }
  size_t next = taken;
  for (const Kept& kept : kept_) {
    if (kept.place != next) besides_.push_back(root_frame_);
    besides_.push_back(kept.frame);
    next = kept.place + 1;
  }
  return here.inside != 0 && (runs > 0 || here.own != 0);
}

uint32_t GroupRows::with_besides(uint32_t innermost) {
  uint32_t at = innermost;
  for (const uint32_t frame : besides_) at = table_.intern(at, frame);
  return at;
}

uint32_t GroupRows::add_to_profile(uint32_t row) {
  uint32_t node = root_;
  for (uint32_t at = row; at != 0; at = tree_[at].parent) {
    profile_->nodes.push_back({node, tree_[at].frame});
    node = static_cast<uint32_t>(profile_->nodes.size() - 1);
  }
  return node;
}

bool GroupRows::is_user(uint32_t frame) {
  Kind& kind = kinds_[frame];
  if (kind == Kind::kUnknown)
    kind = frame_kind(*profile_, profile_->frames[frame]) == FrameKind::kUser ? Kind::kUser : Kind::kOther;
  return kind == Kind::kUser;
}

}  // namespace heapprof::cli
