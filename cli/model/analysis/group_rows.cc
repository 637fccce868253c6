// cli/model/analysis/group_rows.cc: rows may be found while others add nodes to the profile, so the tree in which they
// are looked up is none of the profile's, and the profile gets theirs at the end.
#include "cli/model/analysis/group_rows.h"

#include "cli/model/analysis/frame_kind.h"
#include "cli/model/profile/frame_text.h"

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

std::vector<uint32_t> GroupRows::find(const std::vector<uint32_t>& stacks, size_t most_rows) {
  std::vector<uint32_t> rows(stacks.size());
  for (int user_frames = 16; user_frames > 0; user_frames /= 2) {
    std::vector<char> is_row;
    size_t count = 0;
    size_t done = 0;
    while (done < stacks.size() && (count <= most_rows || user_frames == 1)) {
      rows[done] = row(stacks[done], user_frames);
      if (is_row.size() < tree_.size()) is_row.resize(2 * tree_.size(), 0);
      count += is_row[rows[done]] == 0 ? 1 : 0;
      is_row[rows[done]] = 1;
      ++done;
    }
    if (count <= most_rows) break;
  }
  return rows;
}

uint32_t GroupRows::row(uint32_t stack, int user_frames) {
  uint32_t at = 0;
  size_t taken = 0;
  for (uint32_t node = stack; node != 0; node = recording_.stacks[node].parent) {
    const uint32_t location = recording_.stacks[node].location;
    for (uint32_t i = names_.start[location]; i < names_.start[location + 1]; ++i) {
      const uint32_t frame = names_.stands_for[i];
      at = table_.intern(at, frame);
      ++taken;
      if (is_user(frame) && --user_frames == 0) return python_.has_any() ? row_of_python(stack, at, taken) : at;
    }
  }
  return at;
}

void GroupRows::learn_python() {
  const size_t locations = recording_.locations.size();
  traits_.resize(locations);
  for (size_t i = 0; i < locations; ++i) {
    Traits& traits = traits_[i];
    for (uint32_t at = names_.start[i]; at < names_.start[i + 1]; ++at)
      traits.has_own = traits.has_own || python_.kind(names_.stands_for[at]) == PythonFrame::kOwn;
    const uint32_t frame = names_.stands_for[names_.start[i]];  // Python's have one
    traits.is_python = python_.is_python(frame);
    traits.is_import = python_.kind(frame) == PythonFrame::kImport;
    traits.is_find = traits.is_import && python_.is_called(frame, "_find_and_load");
  }
  const std::vector<StackNode>& nodes = recording_.stacks;
  outwards_.assign(nodes.size(), Outwards{});
  for (uint32_t i = 1; i < nodes.size(); ++i) {
    const StackNode& node = nodes[i];
    const Traits& traits = traits_[node.location];
    const Outwards& outer = outwards_[node.parent];
    Outwards& here = outwards_[i];
    here = outer;
    here.depth += names_.start[node.location + 1] - names_.start[node.location];
    if (traits.has_own) {
      here.own = i;
      here.find = here.module = 0;
    } else if (here.find == 0) {
      if (traits.is_find) here.find = i;
    } else if (here.module == 0 && traits.is_python && !traits.is_import) {
      here.module = i;
    }
  }
}

bool GroupRows::find_python(uint32_t stack, size_t taken) {
  besides_.clear();
  if (outwards_.empty()) learn_python();
  const Outwards& here = outwards_[stack];
  if (here.own == 0) return false;
  const std::vector<StackNode>& nodes = recording_.stacks;
  // Counted from the innermost frame on, a node's first.
  const auto place_of = [&](uint32_t node) { return here.depth - outwards_[node].depth; };
  // What is further in than this was taken: what a row has besides is further out, in these two cases.
  const auto keep = [&](uint32_t node) {
    if (node != 0 && place_of(node) >= taken) besides_.push_back(names_.stands_for[names_.start[nodes[node].location]]);
  };
  uint32_t place = place_of(here.own);
  uint32_t own = names_.start[nodes[here.own].location];
  while (python_.kind(names_.stands_for[own]) != PythonFrame::kOwn) ++own, ++place;
  if (place < taken) return true;
  if (here.find != 0) {
    keep(here.module);
    keep(here.find);
    uint32_t outer = nodes[here.find].parent;
    while (outer != here.own && !traits_[nodes[outer].location].is_python) outer = nodes[outer].parent;
    if (outer != here.own && python_.is_called(names_.stands_for[names_.start[nodes[outer].location]], "reload"))
      keep(outer);
  }
  size_t kept = 0;
  for (uint32_t node = here.own; node != 0 && kept < PythonRows::kMostOwn; node = outwards_[nodes[node].parent].own) {
    const uint32_t end = names_.start[nodes[node].location + 1];
    for (uint32_t i = node == here.own ? own : names_.start[nodes[node].location];
         i < end && kept < PythonRows::kMostOwn; ++i) {
      if (python_.kind(names_.stands_for[i]) != PythonFrame::kOwn) continue;
      besides_.push_back(names_.stands_for[i]);
      ++kept;
    }
  }
  return true;
}

// The row with what it has besides its innermost frames.
uint32_t GroupRows::row_of_python(uint32_t stack, uint32_t innermost, size_t taken) {
  if (find_python(stack, taken)) {
    uint32_t at = innermost;
    if (!besides_.empty()) at = table_.intern(at, root_frame_);
    for (const uint32_t frame : besides_) at = table_.intern(at, frame);
    return at;
  }
  path_.clear();
  for (uint32_t node = stack; node != 0; node = recording_.stacks[node].parent) {
    const uint32_t location = recording_.stacks[node].location;
    for (uint32_t i = names_.start[location]; i < names_.start[location + 1]; ++i)
      path_.push_back(names_.stands_for[i]);
  }
  python_.find(path_, taken, &besides_);
  uint32_t at = innermost;
  if (!besides_.empty()) at = table_.intern(at, root_frame_);
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
