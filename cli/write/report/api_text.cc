// cli/write/report/api_text.cc: a line for each kind of call and place, the longest first. Allocating and freeing on a
// device waits for the device: if a program does it repeatedly for the same memory, the cost is shown.
#include "cli/base/saturating.h"
#include "cli/base/units.h"
#include "cli/write/report/report_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <utility>
#include <vector>

namespace heapprof::cli {
namespace {

constexpr size_t kMostCalls = 12;
constexpr size_t kMostPlaces = 3;  // for memory that is allocated repeatedly
constexpr size_t kMostThreads = 4;
constexpr uint64_t kWorthSaying = 100;  // with fewer repeated allocations, the report does not mention them

struct CallRow {
  std::string call;
  uint32_t node = 0;  // the stack with most of the time
  uint64_t count = 0;
  uint64_t duration_ns = 0;
  uint64_t size_bytes = 0;
};

void add(CallRow* sum, uint64_t count, uint64_t duration_ns, uint64_t size_bytes) {
  sum->count = add_saturating(sum->count, count);
  sum->duration_ns = add_saturating(sum->duration_ns, duration_ns);
  sum->size_bytes = add_saturating(sum->size_bytes, size_bytes);
}

class ApiWriter {
 public:
  ApiWriter(const Profile& profile, const PlaceTree& tree, const FrameNames& names, size_t columns)
      : profile_(profile), tree_(tree), names_(names), columns_(columns) {}

  std::string write() {
    const DeviceApi& api = profile_.api;
    if (api.calls.empty() && api.kernel_launches == 0) return "";
    const std::vector<CallRow> rows = sum_by_place();
    CallRow all;
    for (const CallRow& row : rows) add(&all, row.count, row.duration_ns, 0);
    std::string text =
        fmt::format("\nGPU CALLS   {} of the host's time in {}; {} launched\n", format_time(all.duration_ns),
                    format_counted(all.count, "call"), format_counted(api.kernel_launches, "kernel"));
    std::vector<PlaceLine> lines;
    for (size_t i = 0; i < std::min(rows.size(), kMostCalls); ++i) {
      const CallRow& row = rows[i];
      add_line(row.node,
               {format_time(row.duration_ns), format_percent({row.duration_ns, all.duration_ns}),
                format_count(row.count) + " × " + row.call,
                row.size_bytes == 0 ? std::string() : format_bytes(row.size_bytes)},
               &lines);
    }
    text += laid_out(lines, 0);
    CallRow rest;
    for (size_t i = kMostCalls; i < rows.size(); ++i) add(&rest, rows[i].count, rows[i].duration_ns, 0);
    if (rest.count != 0)
      text +=
          fmt::format("and {} in {} elsewhere\n", format_time(rest.duration_ns), format_counted(rest.count, "call"));
    return text + by_thread(all) + allocated_again(rows);
  }

 private:
  // Equal for stacks that are shown as one place.
  uint32_t place_of(uint32_t node) const {
    const uint32_t place = node == 0 ? 0 : tree_.place_node[node];
    return place == 0 ? tree_.labels_count : tree_.labels[profile_.nodes[place].frame];
  }

  // Sums by call and place, the longest first.
  std::vector<CallRow> sum_by_place() const {
    std::vector<CallRow> rows;
    std::map<std::pair<std::string, uint32_t>, size_t> index;
    for (const ApiCall& call : profile_.api.calls) {
      const auto [at, is_new] = index.try_emplace({call.call, place_of(call.node)}, rows.size());
      if (is_new) rows.push_back({call.call, call.node});
      add(&rows[at->second], call.count, call.duration_ns, call.size_bytes);
    }
    std::stable_sort(rows.begin(), rows.end(),
                     [](const CallRow& a, const CallRow& b) { return a.duration_ns > b.duration_ns; });
    return rows;
  }

  // If several threads spent time in calls, a line about those that spent most.
  std::string by_thread(const CallRow& all) const {
    std::map<uint32_t, CallRow> sums;
    for (const ApiThread& thread : profile_.api.threads) add(&sums[thread.thread], thread.count, thread.duration_ns, 0);
    sums.erase(0);  // the sum of threads with little time
    if (sums.size() < 2) return "";
    std::vector<std::pair<uint32_t, CallRow>> threads(sums.begin(), sums.end());
    std::stable_sort(threads.begin(), threads.end(),
                     [](const auto& a, const auto& b) { return a.second.duration_ns > b.second.duration_ns; });
    std::string text = "by thread";
    uint64_t rest_ns = all.duration_ns;
    for (size_t i = 0; i < std::min(threads.size(), kMostThreads); ++i) {
      const CallRow& sum = threads[i].second;
      text += fmt::format("{} {} {}", i == 0 ? ":" : ",", threads[i].first,
                          format_percent({sum.duration_ns, all.duration_ns}));
      rest_ns -= std::min(rest_ns, sum.duration_ns);
    }
    if (threads.size() > kMostThreads) text += fmt::format(", others {}", format_percent({rest_ns, all.duration_ns}));
    return text + "\n";
  }

  // For each place, roughly, how many device blocks replaced memory that had been there before: the blocks beyond the
  // number that a site had when it had most bytes.
  std::map<uint32_t, uint64_t> blocks_there_before() const {
    std::map<uint32_t, uint64_t> blocks;
    for (const Device& device : profile_.devices) {
      if (device.name.rfind("cuda:", 0) != 0) continue;
      for (const Site& site : device.sites) {
        const SiteNumbers& numbers = site.numbers;
        if (site.max_is_bound || numbers.total_blocks <= numbers.max_blocks) continue;
        uint64_t& known = blocks[place_of(site.node)];
        known = add_saturating(known, numbers.total_blocks - numbers.max_blocks);
      }
    }
    return blocks;
  }

  // The cost of these allocations, and the average cost of as many frees, which may have been in any place.
  std::string allocated_again(const std::vector<CallRow>& rows) {
    CallRow frees;
    for (const CallRow& row : rows) {
      if (row.call == "free") add(&frees, row.count, row.duration_ns, 0);
    }
    const std::map<uint32_t, uint64_t> before = blocks_there_before();
    std::vector<CallRow> places;
    CallRow all;
    for (const CallRow& row : rows) {
      const auto found = before.find(place_of(row.node));
      if (row.call != "allocate" || found == before.end() || row.count == 0 || frees.count == 0) continue;
      const uint64_t count = std::min({found->second, row.count, frees.count - std::min(frees.count, all.count)});
      const double cost_ns =
          static_cast<double>(count) * (static_cast<double>(row.duration_ns) / static_cast<double>(row.count) +
                                        static_cast<double>(frees.duration_ns) / static_cast<double>(frees.count));
      if (count == 0) continue;
      places.push_back({"", row.node, count, static_cast<uint64_t>(std::min(cost_ns, 1e18)), 0});
      add(&all, count, places.back().duration_ns, 0);
    }
    if (all.count < kWorthSaying) return "";
    std::stable_sort(places.begin(), places.end(),
                     [](const CallRow& a, const CallRow& b) { return a.duration_ns > b.duration_ns; });
    std::vector<PlaceLine> lines;
    for (size_t i = 0; i < std::min(places.size(), kMostPlaces); ++i)
      add_line(places[i].node, {format_count(places[i].count) + " ×", format_time(places[i].duration_ns)}, &lines);
    return fmt::format(
               "{} allocations were of device memory that had been there before: about {} for allocating and freeing "
               "it again\n",
               format_count(all.count), format_time(all.duration_ns)) +
           laid_out(lines, 2) + "  (keep it, or use a pool: cudaMallocAsync)\n";
  }

  void add_line(uint32_t node, std::vector<std::string> numbers, std::vector<PlaceLine>* lines) {
    lines->push_back(line_of(profile_, tree_, names_, node, &chains_.emplace_back()));
    lines->back().numbers = std::move(numbers);
  }
  std::string laid_out(const std::vector<PlaceLine>& lines, size_t indent) const {
    std::string text;
    size_t function_column = 0;
    for (const std::string& line : lay_out(names_, lines, indent, columns_, &function_column)) text += line + "\n";
    return text;
  }

  const Profile& profile_;
  const PlaceTree& tree_;
  const FrameNames& names_;
  size_t columns_;
  std::deque<CallerChain> chains_;  // the lines point to them
};

}  // namespace

std::string api_text(const Profile& profile, const PlaceTree& tree, const FrameNames& names, size_t columns) {
  return ApiWriter(profile, tree, names, columns).write();
}

}  // namespace heapprof::cli
