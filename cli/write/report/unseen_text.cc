// cli/write/report/unseen_text.cc: see report_sections.h. An estimate always has a sign: "≈", or "≤" if it may include
// other processes.
#include "cli/base/text.h"
#include "cli/base/units.h"
#include "cli/write/report/report_sections.h"

#include <fmt/format.h>

#include <deque>

namespace heapprof::cli {
namespace {

constexpr size_t kMostEstimates = 5;  // of a device

class UnseenWriter {
 public:
  UnseenWriter(const Profile& profile, const PlaceTree& tree, const FrameNames& names, bool exact_bytes)
      : profile_(profile), tree_(tree), names_(names), exact_bytes_(exact_bytes) {}

  std::string write(const std::vector<const Device*>& devices, size_t columns) {
    std::string counted;
    bool has_bound = false;
    for (const Device* device : devices) {
      const UnseenMemory& unseen = device->unseen;
      if (unseen.runtime_blocks != 0)
        counted += fmt::format("{}{} {} in {}", counted.empty() ? "" : "; ", escape_controls(device->name),
                               bytes(unseen.runtime_bytes), format_counted(unseen.runtime_blocks, "allocation"));
      for (size_t i = 0; i < unseen.estimates.size() && i < kMostEstimates; ++i) add(*device, unseen.estimates[i]);
      if (unseen.estimates.size() > kMostEstimates) add_rest(*device);
      for (const Estimate& estimate : unseen.estimates) has_bound = has_bound || estimate.bound_count != 0;
    }
    std::string text = counted.empty() && lines_.empty() ? "" : "\n";
    if (!counted.empty())
      text += "counted at the CUDA runtime, which made no call of the driver that was seen:\n  " + counted + "\n";
    if (lines_.empty()) return text;
    text += "not in these numbers, estimated from what was free before and after:\n";
    size_t function_column = 0;
    for (const std::string& line : lay_out(names_, lines_, 2, columns, &function_column)) text += line + "\n";
    if (has_bound) text += "  (≤ where nothing was known before: with all that others had on the device)\n";
    return text;
  }

 private:
  std::string bytes(uint64_t value) const { return exact_bytes_ ? format_bytes_exact(value) : format_bytes(value); }
  std::string amount(const Estimate& estimate) const {
    return (estimate.bound_count != 0 ? "≤ " : "≈ ") + bytes(estimate.size_bytes);
  }

  void add(const Device& device, const Estimate& estimate) {
    PlaceLine line = line_of(profile_, tree_, names_, estimate.node, &chains_.emplace_back());
    line.numbers = {escape_controls(device.name), escape_controls(estimate.what), amount(estimate),
                    format_count(estimate.count) + " ×"};
    lines_.push_back(std::move(line));
  }

  void add_elsewhere(const Device& device, const Estimate& sum) {
    add(device, sum);
    lines_.back().function = "elsewhere";
    lines_.back().location.clear();
  }

  void add_rest(const Device& device) {
    UnseenMemory rest;
    rest.estimates.assign(device.unseen.estimates.begin() + kMostEstimates, device.unseen.estimates.end());
    for (const char* what : {"context", "modules"}) {
      const Estimate sum = sum_of_estimates(rest, what);
      if (sum.count != 0) add_elsewhere(device, sum);
    }
  }

  const Profile& profile_;
  const PlaceTree& tree_;
  const FrameNames& names_;
  bool exact_bytes_;
  std::vector<PlaceLine> lines_;
  std::deque<CallerChain> chains_;  // the lines point to them
};

}  // namespace

std::string unseen_text(const Profile& profile, const PlaceTree& tree, const FrameNames& names,
                        const std::vector<const Device*>& devices, bool exact_bytes, size_t columns) {
  return UnseenWriter(profile, tree, names, exact_bytes).write(devices, columns);
}

}  // namespace heapprof::cli
