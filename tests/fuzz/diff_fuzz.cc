// tests/fuzz/diff_fuzz.cc: two profiles, a line "----" between them: the changes of the places sum to their device's,
// the other direction is the negative, a profile and itself differ in nothing, and every format shows all of these.
#include "cli/model/analysis/folding.h"
#include "cli/model/analysis/suppressions.h"
#include "cli/read/read_profile.h"
#include "cli/write/diff/formats.h"
#include "cli/write/diff/scopes_section.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

using namespace heapprof::cli;

namespace {

constexpr std::string_view kBorder = "\n----\n";

std::optional<Profile> read(std::string_view text) {
  TextSource source(text);
  Result<Profile> profile = read_profile(&source, "input");
  if (!profile) return std::nullopt;
  static const Suppressions rules = [] {
    Suppressions built_in;
    add_default_suppressions(&built_in);
    return built_in;
  }();
  mark_suppressed(rules, &*profile);
  return std::move(*profile);
}

// Numbers of hostile profiles may not fit: as the tool adds them, so does this.
PlaceNumbers sum_of_places(const DeviceChange& device, Side side) {
  PlaceNumbers sum;
  for (const PlaceChange& place : device.places) sum.add(place.numbers[side]);
  return sum;
}

void check_sums(const ProfileDiff& diff) {
  for (const DeviceChange& device : diff.devices) {
    for (const Side side : kSides) {
      const PlaceNumbers sum = sum_of_places(device, side);
      for (const Metric metric : kMetrics) {
        if (sum.metric(metric) != device.numbers[side].metric(metric)) std::abort();
      }
    }
  }
}

void show(const Profile& base, const Profile& current, bool is_same) {
  TwoProfiles two;
  two.profiles = {&base, &current};
  two.runs = {std::vector<RunTotals>{sum_run(base, "base")}, std::vector<RunTotals>{sum_run(current, "current")}};
  two.diff = diff_profiles(base, current);
  check_sums(two.diff);
  DiffView view;
  if (is_same && grew(two, view)) std::abort();
  for (const bool all : {false, true}) {
    view.all = all;
    if (is_same && !find_scopes(two, view, SIZE_MAX).scopes.empty()) std::abort();
    for (const DiffFormat& format : diff_formats()) format.render(two, view, {});
  }
  for (const MetricRow& row : metric_rows(two, view)) {
    if (is_same && !row.is_within()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const size_t border = text.find(kBorder);
  if (border == std::string_view::npos) return 0;
  std::optional<Profile> base = read(text.substr(0, border));
  std::optional<Profile> current = read(text.substr(border + kBorder.size()));
  if (base) show(*base, *base, true);
  if (!base || !current) return 0;
  show(*base, *current, false);
  show(*current, *base, false);
  const FoldRules rules{{{"*a*", "", ""}}, 0, false, false, {}};
  mark_folded(rules, std::array<Profile*, 2>{&*base, &*current});
  show(*base, *base, true);
  show(*base, *current, false);
  return 0;
}
