// cli/model/analysis/group_rows.cc: rows may be found while others add nodes to the profile, so the tree in which they
// are looked up is none of the profile's, and the profile gets theirs at the end.
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
    traits.package_frame = traits.package_inner = kNone;
    traits.start_frame = traits.evaluator_frame = traits.tensor_frame = kNone;
    for (uint32_t at = names_.start[i]; at < names_.start[i + 1]; ++at) {
      const uint32_t frame = names_.stands_for[at];
      traits.has_own = traits.has_own || python_.kind(frame) == PythonFrame::kOwn;
      if (python_.package(frame) != 0) traits.package_frame = at;
      if (python_.package(frame) != 0 && traits.package_inner == kNone) traits.package_inner = at;
      if (python_.is_start(frame)) traits.start_frame = at;
      if (python_.kind(frame) == PythonFrame::kEvaluator) traits.evaluator_frame = at;
      if (python_.asks_for_tensor(frame)) traits.tensor_frame = at;
    }
    const uint32_t frame = names_.stands_for[names_.start[i]];  // Python's have one
    traits.is_python = python_.is_python(frame);
    traits.is_import = python_.kind(frame) == PythonFrame::kImport;
    traits.is_find = traits.is_import && python_.is_called(frame, "_find_and_load");
    traits.is_line = python_.is_line(frame);
    if (traits.package_frame == kNone) continue;
    traits.package = python_.package(names_.stands_for[traits.package_frame]);
    traits.stands_for_run = python_.stands_for_run(names_.stands_for[traits.package_frame]);
  }
  const std::vector<StackNode>& nodes = recording_.stacks;
  outwards_.assign(nodes.size(), Outwards{});
  for (uint32_t i = 1; i < nodes.size(); ++i) {
    const StackNode& node = nodes[i];
    const Traits& traits = traits_[node.location];
    Outwards& here = outwards_[i];
    here = outwards_[node.parent];
    here.depth += names_.start[node.location + 1] - names_.start[node.location];
    here.is_inside = here.is_inside || traits.is_python || traits.has_own;
    if (traits.has_own) {
      here.own = i;
      here.find = here.module = here.machinery = here.run = here.start = here.unread = here.tensor = 0;
      continue;
    }
    if (here.machinery == 0 && traits.is_import) here.machinery = i;
    if (here.find == 0) {
      if (traits.is_find) here.find = i;
    } else if (here.module == 0 && traits.is_python && !traits.is_import) {
      here.module = i;
    }
    if (traits.is_line) here.line = i;
    if (here.start == 0 && traits.start_frame != kNone) here.start = i;
    if (here.tensor == 0 && traits.tensor_frame != kNone) here.tensor = i;
    if (here.unread == 0 && traits.evaluator_frame != kNone) here.unread = i;
    if (traits.package == 0 || (traits.package == PythonRows::kHosts && here.is_inside)) continue;
    const uint32_t run = here.run;
    const bool goes_on = run != 0 && traits_[nodes[run].location].package == traits.package &&
                         outwards_[run].is_inside == here.is_inside;
    if (goes_on && here.is_inside && !traits.stands_for_run) continue;
    here.run = i;
    here.outer_run = goes_on ? outwards_[run].outer_run : run;
  }
}

bool GroupRows::find_python(uint32_t stack, size_t taken) {
  besides_.clear();
  kept_.clear();
  if (outwards_.empty()) learn_python();
  const Outwards& here = outwards_[stack];
  const std::vector<StackNode>& nodes = recording_.stacks;
  // Counted from the innermost frame on, a node's first.
  const auto place_of = [&](uint32_t node) { return here.depth - outwards_[node].depth; };
  const auto first_frame = [&](uint32_t node) { return names_.start[nodes[node].location]; };
  const auto keep = [&](uint32_t node, uint32_t frame) {
    const uint32_t place = place_of(node) + (frame - first_frame(node));
    if (place >= taken) kept_.push_back({place, names_.stands_for[frame]});
  };
  uint32_t own = 0;
  if (here.own != 0) {
    own = first_frame(here.own);
    while (python_.kind(names_.stands_for[own]) != PythonFrame::kOwn) ++own;
    if (place_of(here.own) + (own - first_frame(here.own)) < taken) return true;
  }
  size_t runs = 0;
  for (uint32_t run = here.run; run != 0; run = outwards_[run].outer_run) {
    const bool is_kept = ++runs < PythonRows::kMostRuns || outwards_[run].outer_run == 0;
    const Traits& traits = traits_[nodes[run].location];
    if (is_kept) keep(run, outwards_[run].is_inside ? traits.package_frame : traits.package_inner);
  }
  if (here.tensor != 0) keep(here.tensor, traits_[nodes[here.tensor].location].tensor_frame);
  if (here.machinery != 0) keep(here.machinery, first_frame(here.machinery));
  if (here.find != 0) {
    if (here.module != 0) keep(here.module, first_frame(here.module));
    keep(here.find, first_frame(here.find));
    uint32_t outer = nodes[here.find].parent;
    while (outer != here.own && !traits_[nodes[outer].location].is_python) outer = nodes[outer].parent;
    if (outer != here.own && python_.is_called(names_.stands_for[first_frame(outer)], "reload"))
      keep(outer, first_frame(outer));
    const uint32_t line = here.own == 0 ? outwards_[nodes[here.find].parent].line : 0;
    if (line != 0) keep(line, first_frame(line));
  }
  if (here.own == 0 && here.start != 0) keep(here.start, traits_[nodes[here.start].location].start_frame);
  if (here.own == 0 && runs == 0 && here.unread != 0)
    keep(here.unread, traits_[nodes[here.unread].location].evaluator_frame);
  std::sort(kept_.begin(), kept_.end());
  kept_.erase(std::unique(kept_.begin(), kept_.end()), kept_.end());
  size_t lines = 0;
  for (uint32_t node = here.own; node != 0 && lines < PythonRows::kMostOwn; node = outwards_[nodes[node].parent].own) {
    const uint32_t end = names_.start[nodes[node].location + 1];
    for (uint32_t at = node == here.own ? own : first_frame(node); at < end && lines < PythonRows::kMostOwn; ++at) {
      if (python_.kind(names_.stands_for[at]) != PythonFrame::kOwn) continue;
      keep(node, at);
      ++lines;
    }
  }
  size_t next = taken;
  for (const Kept& kept : kept_) {
    if (kept.place != next) besides_.push_back(root_frame_);
    besides_.push_back(kept.frame);
    next = kept.place + 1;
  }
  return runs > 0 || here.own != 0;
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
