// cli/model/top/top_board.cc: growth is a sum of changes: a change is added when it arrives, and subtracted when it
// leaves the window. So there is no copy of all sites for each second, and a site that does not change costs nothing.
#include "cli/model/top/top_board.h"

#include "cli/base/saturating.h"

#include <algorithm>

namespace heapprof::cli {

namespace {

constexpr uint32_t kMostSites = 1u << 26;  // larger site numbers are ignored; a forged one could cost the client 10 GiB

int64_t moved_by(uint64_t now, uint64_t before) { return static_cast<int64_t>(now - before); }

void add(const TopNumbers& numbers, TopNumbers* sum) {
  sum->live_bytes += numbers.live_bytes;
  sum->live_blocks += numbers.live_blocks;
  sum->growth_bytes =
      static_cast<int64_t>(static_cast<uint64_t>(sum->growth_bytes) + static_cast<uint64_t>(numbers.growth_bytes));
  add_to(&sum->total_bytes, numbers.total_bytes);
  sum->total_blocks += numbers.total_blocks;
  sum->new_blocks += numbers.new_blocks;
  sum->new_temporary_blocks += numbers.new_temporary_blocks;
}

}  // namespace

void TopBoard::forget() { *this = {}; }

uint64_t TopBoard::window_ns() const { return std::min(last_ns_ - first_ns_, kTopWindowNs); }

void TopBoard::expire(uint64_t now_ns) {
  for (; !window_.empty() && now_ns - window_.front().at_ns >= kTopWindowNs; window_.pop_front()) {
    for (const Change& change : window_.front().changes) {
      TopNumbers& numbers = sites_[change.device][change.site].numbers;
      numbers.growth_bytes =
          static_cast<int64_t>(static_cast<uint64_t>(numbers.growth_bytes) - static_cast<uint64_t>(change.bytes));
    }
  }
}

void TopBoard::take_sites(const TopSample& sample) {
  // Memory in the first complete sample existed before, so it does not count as growth.
  const bool is_first = samples_ == 0;
  for (const TopSite& told : sample.sites) {
    if (told.site >= kMostSites) continue;
    std::vector<SiteState>& sites = sites_[told.device];
    if (told.site >= sites.size()) sites.resize(told.site + 1);
    SiteState& state = sites[told.site];
    TopNumbers& numbers = state.numbers;
    const int64_t grown = is_first ? 0 : moved_by(told.live_bytes, numbers.live_bytes);
    numbers.new_blocks = is_first ? 0 : told.total_blocks - numbers.total_blocks;
    numbers.new_temporary_blocks = is_first ? 0 : told.temporary_blocks - state.temporary_blocks;
    numbers.live_bytes = told.live_bytes;
    numbers.live_blocks = told.live_blocks;
    numbers.total_bytes = told.total_bytes;
    numbers.total_blocks = told.total_blocks;
    state.temporary_blocks = told.temporary_blocks;
    state.sample = samples_;
    if (place_of(told.site) == 0) ++unnamed_;
    if (grown == 0) continue;
    numbers.growth_bytes =
        static_cast<int64_t>(static_cast<uint64_t>(numbers.growth_bytes) + static_cast<uint64_t>(grown));
    window_.back().changes.push_back({told.device, told.site, grown});
  }
}

void TopBoard::take_devices(const TopSample& sample) {
  for (const TopDevice& device : sample.devices) {
    const auto known = std::find_if(devices_.begin(), devices_.end(),
                                    [&](const TopDeviceState& state) { return state.now.number == device.number; });
    TopDeviceState& state = known == devices_.end() ? devices_.emplace_back() : *known;
    state.now = device;
    state.curve.push_back({last_ns_, device.live_bytes});
    while (state.curve.size() > 1 && last_ns_ - state.curve.front().at_ns > kTopCurveNs) state.curve.pop_front();
    state.sum = {};
    for (const SiteState& site : sites_[device.number]) {
      TopNumbers numbers = site.numbers;
      if (site.sample != samples_) numbers.new_blocks = numbers.new_temporary_blocks = 0;
      add(numbers, &state.sum);
    }
  }
}

void TopBoard::take_scopes(const TopSample& sample) {
  std::vector<TopScopeState> scopes;
  for (const TopScope& scope : sample.scopes) {
    TopScopeState& state = scopes.emplace_back();
    state.now = scope;
    const auto known = std::find_if(scopes_.begin(), scopes_.end(),
                                    [&](const TopScopeState& before) { return before.now.id == scope.id; });
    const bool is_new = known == scopes_.end();
    if (is_new && samples_ == 0) continue;
    state.new_begun = scope.begun_count - (is_new ? 0 : known->now.begun_count);
    state.new_bytes = scope.allocated_bytes - (is_new ? 0 : known->now.allocated_bytes);
  }
  scopes_ = std::move(scopes);
}

void TopBoard::note_rises() {
  for (const TopDeviceState& device : devices_) {
    for (const TopRow& row : rows(device.now.number)) {
      Rise& rise = rises_[{device.now.number, row.place}];
      const uint64_t live_bytes = row.numbers.live_bytes;
      if (samples_ == 0 || live_bytes < rise.live_bytes) {
        rise = {live_bytes, live_bytes, last_ns_, 0};
      } else if (live_bytes > rise.live_bytes) {
        ++rise.rises;
        rise.live_bytes = live_bytes;
      }
    }
  }
}

void TopBoard::take(const TopSample& sample, uint64_t at_ns) {
  expire(at_ns);
  if (window_.empty() || window_.back().at_ns != at_ns) window_.push_back({at_ns, {}});
  take_sites(sample);
  age_ns_ = sample.age_ns;
  lost_count_ = sample.lost_count;
  if (!sample.is_whole) return;
  if (samples_ == 0) first_ns_ = at_ns;
  interval_ns_ = samples_ == 0 ? 0 : at_ns - last_ns_;
  last_ns_ = at_ns;
  scope_count_ = sample.scope_count;
  take_devices(sample);
  take_scopes(sample);
  note_rises();
  ++samples_;
}

void TopBoard::take_names(TopNames names) {
  // Rises are stored by place number, and new names renumber the places.
  std::map<std::pair<std::string, std::string>, uint32_t> numbers;
  for (uint32_t i = 0; i < names.places.size(); ++i)
    numbers.emplace(std::pair(names.places[i].function, names.places[i].location), i + 1);
  std::map<std::pair<uint32_t, uint32_t>, Rise> rises;
  for (const auto& [key, rise] : rises_) {
    if (key.second == 0 || key.second > names_.places.size()) continue;
    const TopPlace& place = names_.places[key.second - 1];
    if (const auto found = numbers.find({place.function, place.location}); found != numbers.end())
      rises[{key.first, found->second}] = rise;
  }
  names_ = std::move(names);
  for (const TopDeviceState& device : devices_) {
    for (const TopRow& row : rows(device.now.number)) {
      const uint64_t live_bytes = row.numbers.live_bytes;
      rises.try_emplace({device.now.number, row.place}, Rise{live_bytes, live_bytes, last_ns_, 0});
    }
  }
  rises_ = std::move(rises);
  unnamed_ = 0;
  for (const auto& [device, sites] : sites_) {
    for (uint32_t site = 0; site < sites.size(); ++site)
      unnamed_ += sites[site].numbers.total_blocks != 0 && place_of(site) == 0 ? 1 : 0;
  }
}

bool TopBoard::lacks_names() const { return unnamed_ != 0; }

std::vector<TopRow> TopBoard::rows(uint32_t device_number) const {
  std::vector<TopRow> by_place(names_.places.size() + 1);
  if (const auto sites = sites_.find(device_number); sites != sites_.end()) {
    const uint64_t last = samples_;
    for (uint32_t site = 0; site < sites->second.size(); ++site) {
      const SiteState& state = sites->second[site];
      if (state.numbers.total_blocks == 0) continue;
      TopNumbers numbers = state.numbers;
      if (state.sample + 1 < last || last == 0) numbers.new_blocks = numbers.new_temporary_blocks = 0;
      add(numbers, &by_place[place_of(site)].numbers);
    }
  }
  std::vector<TopRow> rows;
  for (uint32_t place = 0; place < by_place.size(); ++place) {
    TopRow& row = by_place[place];
    if (row.numbers.total_blocks == 0) continue;
    row.place = place;
    if (const auto rise = rises_.find({device_number, place}); rise != rises_.end()) {
      row.rises = rise->second.rises;
      row.rising_ns = last_ns_ - rise->second.begin_ns;
      row.risen_bytes = rise->second.live_bytes - rise->second.begin_bytes;
    }
    rows.push_back(row);
  }
  return rows;
}

}  // namespace heapprof::cli
