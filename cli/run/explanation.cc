// cli/run/explanation.cc: a test's message has room for a few lines, so it shows those that its author can act on.
//
// Sites are summed by the stack as it is shown, not by address: the author of an unrolled loop sees one site. The last
// lines sum up the sites that are not shown, so that all lines add up to the test's own number.
#include "cli/run/explanation.h"

#include "cli/base/function_name.h"
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/analysis/places.h"
#include "cli/model/profile/assemble.h"
#include "cli/write/text/place_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace heapprof::cli {

namespace {

constexpr size_t kMostSites = 5;
constexpr size_t kMostFrames = 8;
constexpr size_t kFunctionColumns = 80;
constexpr size_t kLocationColumns = 60;
constexpr size_t kMostLastBytes = 256;  // of the two lines at the end

std::string amount_text(const Amount& amount) {
  if (amount.blocks == 0) return format_bytes(amount.bytes);
  return fmt::format("{} in {}", format_bytes(amount.bytes), format_counted(amount.blocks, "block"));
}

// Whether the function belongs to the test runner, judged by its name.
bool is_of_test_runner(std::string_view function) {
  for (const std::string_view prefix : {"Catch::", "testing::", "heapprof::"}) {
    if (function.starts_with(prefix)) return true;
  }
  return function == "main" || function.starts_with("RUN_ALL_TESTS");
}

class Explanation {
 public:
  Explanation(const RecordedChanges& changes, const SymbolTable& symbols)
      : changes_(changes),
        profile_(assemble(changes.recording, symbols)),
        tree_(build_place_tree(profile_)),
        names_(profile_, tree_) {}

  std::string text() {
    std::string text;
    const std::vector<Group> groups = group();
    Amount others = changes_.others;
    uint64_t others_count = changes_.others_count;
    for (size_t i = 0; i < groups.size(); ++i) {
      std::string lines = amount_text(groups[i].amount) + "\n" + groups[i].stack;
      const bool has_room = text.size() + lines.size() + kMostLastBytes < wire::kTextBytes;
      if (i < kMostSites && has_room) {
        text += lines;
      } else {
        others.bytes += groups[i].amount.bytes;
        others.blocks += groups[i].amount.blocks;
        others_count += groups[i].count;
      }
    }
    if (others_count != 0)
      text += fmt::format("{} by {}\n", amount_text(others), format_counted(others_count, "other site"));
    if (changes_.fewer_count != 0)
      text += fmt::format("less {} by {}, of what was live at the begin\n", amount_text(changes_.fewer),
                          format_counted(changes_.fewer_count, "site"));
    return text.empty() ? "no site has any of it\n" : text;
  }

 private:
  struct Group {
    std::string stack;
    Amount amount;
    uint64_t count;  // of sites
  };

  std::string frame_line(uint32_t node) const {
    const uint32_t frame = profile_.nodes[node].frame;
    return fmt::format("  {}  {}\n", shorten_function(names_.function(frame), kFunctionColumns),
                       shorten_middle(names_.short_location(frame), kLocationColumns));
  }

  // The user's frames from `own` outwards, up to the test runner, whose callers are no part of the test. A frame of the
  // runner further in (a mock, or a user's function in the runner's namespace) counts like any other.
  std::vector<uint32_t> frames_of_test(uint32_t own) const {
    std::vector<uint32_t> frames;
    size_t runner = 0;  // index of the first of the outermost frames that may be the runner's
    bool has_runner = false;
    for (; own != 0; own = tree_.user_node[profile_.nodes[own].parent]) {
      const std::string function = names_.function(profile_.nodes[own].frame);
      frames.push_back(own);
      if (!is_of_test_runner(function)) {
        runner = frames.size();
        has_runner = false;
      } else if (function != "main") {
        has_runner = true;
      }
    }
    if (has_runner && runner != 0) frames.resize(runner);
    return frames;
  }

  std::string stack_of(uint32_t node) const {
    if (node == 0) return "  [no stack]\n";
    uint32_t own = tree_.place_node[node];
    if (own == 0) own = node;
    const std::vector<uint32_t> frames = frames_of_test(own);
    std::string lines;
    for (size_t i = 0; i < std::min(frames.size(), kMostFrames); ++i) lines += frame_line(frames[i]);
    return frames.size() > kMostFrames ? lines + "  …\n" : lines;
  }

  std::vector<Group> group() const {
    std::vector<Group> groups;
    for (const Site& site : profile_.devices[0].sites) {
      const std::string stack = stack_of(site.node);
      const auto known =
          std::find_if(groups.begin(), groups.end(), [&](const Group& one) { return one.stack == stack; });
      Group& of = known == groups.end() ? groups.emplace_back(Group{stack, {}, 0}) : *known;
      of.amount.bytes += site.numbers.total_bytes;
      of.amount.blocks += site.numbers.total_blocks;
      ++of.count;
    }
    const bool counts_blocks = changes_.measure == wire::Measure::kTotalBlocks;
    std::stable_sort(groups.begin(), groups.end(), [counts_blocks](const Group& a, const Group& b) {
      return counts_blocks ? a.amount.blocks > b.amount.blocks : a.amount.bytes > b.amount.bytes;
    });
    return groups;
  }

  const RecordedChanges& changes_;
  Profile profile_;
  PlaceTree tree_;
  FrameNames names_;
};

}  // namespace

std::string explanation_text(const RecordedChanges& changes, const SymbolTable& symbols) {
  return Explanation(changes, symbols).text();
}

}  // namespace heapprof::cli
