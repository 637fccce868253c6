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

// The row with what it has besides its innermost frames.
uint32_t GroupRows::row_of_python(uint32_t stack, uint32_t innermost, size_t taken) {
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
