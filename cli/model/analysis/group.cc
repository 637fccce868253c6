// cli/model/analysis/group.cc: a row keeps as many of the innermost user frames as possible while the number of rows
// stays small. Users look for the allocating function and its nearest callers; main() tells them nothing. In a Python
// program they look for the user's line.
#include "cli/model/analysis/group.h"

#include "cli/model/analysis/frame_kind.h"
#include "cli/model/analysis/python/rows.h"
#include "cli/model/profile/canonical.h"
#include "cli/model/profile/frame_text.h"
#include "cli/model/profile/node_table.h"
#include "cli/model/profile/site_fields.h"

#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

namespace heapprof::cli {
namespace {

constexpr uint64_t kSmallShare = 10'000;  // one part in so many is 0.01 %

bool is_share_small(uint64_t part, uint64_t whole) { return part == 0 || part < whole / kSmallShare; }

template <size_t kAt>
bool is_small_in(const SiteNumbers& site, const DeviceTotals& totals) {
  constexpr const SiteField& kField = kSiteFields[kAt];
  if constexpr (kField.total == nullptr || kField.number == &SiteNumbers::peak_blocks) {
    return true;  // sites are not searched by their blocks at the peak
  } else {
    return is_share_small(site.*kField.number, totals.*kField.total);
  }
}

// The list of fields is unrolled at compile time: this runs for every site.
template <size_t... kAt>
bool is_small_in_all(const SiteNumbers& site, const DeviceTotals& totals, std::index_sequence<kAt...>) {
  return (is_small_in<kAt>(site, totals) && ...);
}

}  // namespace

bool is_small_site(const SiteNumbers& site, const DeviceTotals& totals) {
  return is_small_in_all(site, totals, std::make_index_sequence<kSiteFields.size()>());
}

namespace {

class Grouper {
 public:
  explicit Grouper(Profile* profile) : profile_(profile), nodes_(&profile->nodes), python_(*profile) {
    for (const Frame& frame : profile->frames) {
      is_row_.push_back(frame.svma == 0 && frame.function == kSmallSitesText);
      is_user_.push_back(!is_row_.back() && frame_kind(*profile, frame) == FrameKind::kUser);
    }
    Frame pseudo;
    pseudo.function = kSmallSitesText;
    profile->frames.push_back(pseudo);
    is_user_.push_back(false);
    is_row_.push_back(true);
    pseudo_ = static_cast<uint32_t>(profile->frames.size() - 1);
    root_ = nodes_.intern(0, pseudo_);
  }

  // The fewest innermost user frames of a row. In a Python program it is 0: a row may have only the frames of
  // python/rows.h.
  int fewest_frames() const { return python_.has_any() ? 0 : 1; }

  // Returns the stack that represents `node` if its innermost `user_frames` user frames are kept; one is kept if no
  // other frame identifies it.
  uint32_t row(uint32_t node, int user_frames) {
    const int user_frames_asked = user_frames;
    path_.clear();
    uint32_t at_node = node;
    for (; at_node != 0 && user_frames > 0; at_node = profile_->nodes[at_node].parent) {
      const uint32_t frame = profile_->nodes[at_node].frame;
      if (is_row_[frame] && profile_->nodes[at_node].parent == 0) break;  // an earlier row's root; added again below
      path_.push_back(frame);
      if (is_user_[frame]) --user_frames;
    }
    if (python_.has_any() && at_node != 0) {
      const size_t taken = path_.size();
      for (; at_node != 0; at_node = profile_->nodes[at_node].parent) path_.push_back(profile_->nodes[at_node].frame);
      if (is_row_[path_.back()]) path_.pop_back();
      if (!python_.find(path_, taken, &besides_) && user_frames_asked == 0) return row(node, 1);
      path_.resize(taken);
      for (const uint32_t frame : besides_) path_.push_back(frame == PythonRows::kLeftOut ? pseudo_ : frame);
    }
    uint32_t at = root_;
    for (auto frame = path_.rbegin(); frame != path_.rend(); ++frame) at = nodes_.intern(at, *frame);
    return at;
  }

 private:
  Profile* profile_;
  NodeTable nodes_;
  std::vector<char> is_user_;
  std::vector<char> is_row_;  // "[small sites]", of rows that were made before
  PythonRows python_;
  std::vector<uint32_t> path_;
  std::vector<uint32_t> besides_;
  uint32_t pseudo_ = 0;  // the frame "[small sites]"
  uint32_t root_ = 0;
};

size_t group_device(Device* device, const GroupOptions& options, Grouper* grouper) {
  std::vector<Site*> small;
  for (size_t i = options.kept_sites; i < device->sites.size(); ++i) {
    Site& site = device->sites[i];
    if (site.node != 0 && is_small_site(site.numbers, device->totals)) small.push_back(&site);
  }
  std::vector<uint32_t> rows(small.size());
  for (int user_frames = 16;; user_frames /= 2) {
    const bool is_last = user_frames == grouper->fewest_frames();  // then there may be more rows than most_rows
    std::unordered_set<uint32_t> distinct;
    for (size_t i = 0; i < small.size() && (is_last || distinct.size() <= options.most_rows); ++i) {
      // The innermost frames decide which leaks are suppressed (suppressions.h).
      rows[i] =
          grouper->row(small[i]->node, small[i]->numbers.leaked_blocks > 0 ? std::max(user_frames, 1) : user_frames);
      distinct.insert(rows[i]);
    }
    if (is_last || distinct.size() <= options.most_rows) break;
  }
  for (size_t i = 0; i < small.size(); ++i) {
    small[i]->node = rows[i];
    if (small[i]->grouped_stacks == 0) small[i]->grouped_stacks = 1;
    small[i]->spread.clear();  // minima and maxima of several sites are not those of their sum
  }
  return small.size();
}

}  // namespace

size_t group_small_sites(Profile* profile, const GroupOptions& options) {
  bool is_large = false;
  for (const Device& device : profile->devices) is_large = is_large || device.sites.size() > options.kept_sites;
  if (!is_large) return 0;
  Grouper grouper(profile);
  size_t grouped = 0;
  for (Device& device : profile->devices) grouped += group_device(&device, options, &grouper);
  canonicalize(profile);
  return grouped;
}

}  // namespace heapprof::cli
