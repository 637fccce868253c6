// cli/run/summary/summary_places.cc: see summary_places.h.
//
// Temporary blocks are in the summary only if they matter: at least a hundred thousand, and a quarter of all
// allocations. With fewer, a program spends next to no time on them, and the report has them anyway.
#include "cli/run/summary/summary_places.h"

#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/model/analysis/exception_reserve.h"
#include "cli/model/analysis/folding.h"
#include "cli/model/analysis/places.h"
#include "cli/write/text/fold_text.h"
#include "cli/write/text/metric_text.h"
#include "cli/write/text/place_text.h"
#include "cli/write/text/sampling_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace heapprof::cli {
namespace {

constexpr size_t kMostPlaces = 3;
constexpr uint64_t kTemporaryStory = 100'000;
constexpr uint64_t kTemporaryShare = 4;  // a quarter of all allocations

struct Section {
  std::string title;
  std::vector<PlaceLine> lines;
  size_t shown = 1;
};

}  // namespace

class PlaceSections::Parts {
 public:
  Parts(const Profile& profile, const PlaceTree& tree, std::vector<const Device*> devices)
      : profile_(profile), devices_(std::move(devices)), tree_(tree), names_(profile, tree) {
    for (const Device* device : devices_) {
      places_.push_back(find_places(profile, tree, *device));
      sums_.push_back(sum_of_sites(*device));
    }
    for (size_t device = 0; device < devices_.size(); ++device) gather(device, Metric::kPeak);
    for (size_t device = 0; device < devices_.size(); ++device) {
      const DeviceTotals& totals = devices_[device]->totals;
      if (totals.temporary_blocks >= kTemporaryStory &&
          totals.temporary_blocks >= totals.total_blocks / kTemporaryShare)
        gather(device, Metric::kTemporary);
    }
    for (size_t device = 0; device < devices_.size(); ++device) {
      const std::string& name = devices_[device]->name;  // not pages (the kernel frees most), nor Python's objects
      if (!is_mapped_device(name) && name != kPythonDevice) gather(device, Metric::kLeaked);
    }
    folded_names_ = find_folded_names(profile_, tree_, devices_);
  }

  std::string text(const PlacesView& view) const {
    std::vector<Section> sections = sections_;
    share_room(view, &sections);
    say_what_is_folded(view, &sections);
    std::vector<PlaceLine> lines;
    for (const Section& section : sections)
      lines.insert(lines.end(), section.lines.begin(), section.lines.begin() + static_cast<ptrdiff_t>(section.shown));
    size_t function_column = 0;
    const std::vector<std::string> texts = lay_out(names_, lines, 2, view.columns, &function_column);
    std::string text;
    size_t next = 0;
    for (const Section& section : sections) {
      const size_t title_end = std::min(section.title.find("  "), section.title.size());
      const std::string title = section.title.substr(0, title_end);
      text += (view.colored ? "\x1b[1m" + title + "\x1b[0m" : title) + section.title.substr(title_end) + "\n";
      for (size_t i = 0; i < section.shown; ++i) text += texts[next++] + "\n";
    }
    return text;
  }

 private:
  std::string title(const Device& device, Metric metric, const std::vector<Place>& places,
                    const PlaceNumbers& sum) const {
    const std::string name = escape_controls(device.name);
    const bool is_alone = profile_.devices.size() == 1 || devices_.size() == 1;
    std::string text = metric == Metric::kPeak ? fmt::format("at the {} peak", name)
                       : metric == Metric::kTemporary
                           ? fmt::format("temporary{}  {} of {} allocations were freed at once; of these:",
                                         is_alone ? "" : " on " + name, format_count(sum.temporary_blocks),
                                         format_count(sum.total_blocks))
                           : fmt::format("{}{}", live_word(profile_), is_alone ? "" : " on " + name);
    const uint64_t reserve = metric == Metric::kTemporary ? 0 : reserve_of(places, metric);
    if (reserve * 100 >= sum.metric(metric) && reserve != 0)
      text += fmt::format("  ({} of it is {})", format_bytes(reserve), kReserveName);
    return text;
  }

  // The suppressed memory, if it matters; without the reserve that the C++ library keeps.
  static std::string suppressed_text(const Device& device, const std::vector<Place>& places, const PlaceNumbers& sum) {
    uint64_t bytes = sum.suppressed_bytes;
    for (const Place& place : places) bytes -= place.is_reserve ? place.numbers.suppressed_bytes : 0;
    if (bytes == 0 || bytes < device.totals.peak_bytes / 100) return "";
    return fmt::format("  + {} suppressed (heapprof report --list-suppressions)", format_bytes(bytes));
  }

  // Whether the memory live at the end is negligible compared with the peak. The device's line has its number anyway.
  static bool is_dust(const Device& device, const PlaceNumbers& sum) {
    constexpr uint64_t kMostBytes = 64 << 10;
    return sum.leaked_bytes < std::min(kMostBytes, device.totals.peak_bytes / 100);
  }

  PlaceLine line_of(const Device& device, const Place& place, Metric metric, const PlaceNumbers& sum) {
    const PlaceNumbers& numbers = place.numbers;
    PlaceLine line;
    line.numbers = {is_in_bytes(metric) ? format_bytes(numbers.metric(metric)) : format_count(numbers.metric(metric)),
                    format_percent({numbers.metric(metric), sum.metric(metric)})};
    line.function = names_.place_function(place);
    line.location = names_.place_location(place);
    add_error(profile_, device, numbers, metric, &line.numbers);
    if (metric == Metric::kLeaked) line.remark = format_counted(numbers.leaked_blocks, "block");
    if (metric == Metric::kTemporary)
      line.remark = fmt::format("of {}, {}", format_count(numbers.total_blocks), each_text(numbers, false));
    if (metric == Metric::kPeak) {
      chains_.push_back(std::make_unique<CallerChain>(find_callers(profile_, tree_, device, place, metric)));
      line.callers = chains_.back().get();
    }
    return line;
  }

  void gather(size_t number, Metric metric) {
    const Device& device = *devices_[number];
    const std::vector<Place>& places = places_[number];
    const PlaceNumbers& sum = sums_[number];
    const std::vector<uint32_t> order = rank_own_places(places, metric);
    Section section;
    section.title = title(device, metric, places, sum);
    for (const uint32_t at : order) {
      const bool is_noise = places[at].numbers.metric(metric) < sum.metric(metric) / 100;
      if (section.lines.size() == kMostPlaces || (is_noise && !section.lines.empty())) break;
      section.lines.push_back(line_of(device, places[at], metric, sum));
    }
    const std::string suppressed = metric == Metric::kLeaked ? suppressed_text(device, places, sum) : "";
    section.title += suppressed;
    section.shown = std::min<size_t>(section.lines.size(), 1);
    if (metric == Metric::kLeaked && suppressed.empty() && is_dust(device, sum)) return;
    if (!section.lines.empty() || !suppressed.empty()) sections_.push_back(std::move(section));
  }

  // Says which functions are folded, after the first title, because that takes no extra line.
  void say_what_is_folded(const PlacesView& view, std::vector<Section>* sections) const {
    if (sections->empty()) return;
    std::string& title = sections->front().title;
    const size_t used = display_width(title) + 2;
    const std::string text = folded_text(folded_names_, view.columns - std::min(used, view.columns));
    if (!text.empty()) title += "  " + text;
  }

  // Gives each section in turn one more row, as long as there is room.
  static void share_room(const PlacesView& view, std::vector<Section>* sections) {
    if (sections->empty()) return;
    const auto weight = [](const Section& section) { return section.lines.size(); };
    sections->front().shown = weight(sections->front());
    size_t used = sections->size();
    for (const Section& section : *sections) used += section.shown;
    for (size_t row = 1; row < kMostPlaces; ++row) {
      for (Section& section : *sections) {
        if (section.shown != row || row >= weight(section) || used >= view.rows) continue;
        ++section.shown;
        ++used;
      }
    }
  }

  const Profile& profile_;
  std::vector<const Device*> devices_;
  std::vector<std::vector<Place>> places_;  // by device
  std::vector<PlaceNumbers> sums_;          // likewise
  const PlaceTree& tree_;
  FrameNames names_;
  std::vector<Section> sections_;
  std::vector<std::unique_ptr<CallerChain>> chains_;  // the lines point at them
  std::vector<std::string> folded_names_;
};

PlaceSections::PlaceSections(const Profile& profile, const PlaceTree& tree, std::vector<const Device*> devices)
    : parts_(std::make_unique<Parts>(profile, tree, std::move(devices))) {}
PlaceSections::PlaceSections(PlaceSections&&) noexcept = default;
PlaceSections::~PlaceSections() = default;

std::string PlaceSections::text(const PlacesView& view) const { return parts_->text(view); }

}  // namespace heapprof::cli
