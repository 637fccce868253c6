// cli/model/top/top_findings.cc: see top_findings.h for the rules.
#include "cli/model/top/top_findings.h"

#include "cli/model/top/top_table.h"

#include <algorithm>

namespace heapprof::cli {

namespace {

constexpr uint32_t kLeastRises = 10;
constexpr uint64_t kLeastRisenBytes = 1 << 20;
constexpr uint64_t kLeastShare = 100;  // a hundredth
constexpr uint64_t kLeastChurn = 10'000;

bool is_nine_tenths(uint64_t part, uint64_t whole) { return whole != 0 && part >= whole - whole / 10; }

void find_in_rows(const TopBoard& board, const TopDeviceState& device, std::vector<TopFinding>* grows,
                  std::vector<TopFinding>* churns) {
  for (const TopRow& row : board.rows(device.now.number)) {
    if (row.place == 0) continue;
    const bool grew = row.rises >= kLeastRises && row.risen_bytes >= kLeastRisenBytes &&
                      row.risen_bytes >= device.now.live_bytes / kLeastShare;
    if (grew)
      grows->push_back(
          {TopFindingKind::kGrows, device.now.name, place_of_row(board, row), row.risen_bytes, row.rising_ns, 0, 0});
    const uint64_t rate = rate_per_second(row.numbers.new_blocks, board.interval_ns());
    if (rate >= kLeastChurn && is_nine_tenths(row.numbers.new_temporary_blocks, row.numbers.new_blocks))
      churns->push_back({TopFindingKind::kChurn, device.now.name, place_of_row(board, row), 0, 0, rate, 0});
  }
}

}  // namespace

std::vector<TopFinding> find_top_findings(const TopBoard& board) {
  std::vector<TopFinding> findings;
  std::vector<TopFinding> grows;
  std::vector<TopFinding> churns;
  if (board.lost_count() != 0) findings.push_back({TopFindingKind::kLost, "", {}, 0, 0, board.lost_count(), 0});
  for (const TopDeviceState& device : board.devices()) {
    if (device.now.refused_count != 0)
      findings.push_back({TopFindingKind::kRefused, device.now.name, {}, 0, 0, device.now.refused_count, 0});
  }
  for (const TopDeviceState& device : board.devices()) {
    if (is_nine_tenths(device.now.live_bytes, device.now.limit_bytes))
      findings.push_back(
          {TopFindingKind::kLimit, device.now.name, {}, device.now.live_bytes, 0, 0, device.now.limit_bytes});
    find_in_rows(board, device, &grows, &churns);
  }
  std::stable_sort(grows.begin(), grows.end(),
                   [](const TopFinding& a, const TopFinding& b) { return a.bytes > b.bytes; });
  std::stable_sort(churns.begin(), churns.end(),
                   [](const TopFinding& a, const TopFinding& b) { return a.count > b.count; });
  findings.insert(findings.end(), grows.begin(), grows.end());
  findings.insert(findings.end(), churns.begin(), churns.end());
  return findings;
}

const char* finding_word(TopFindingKind kind) {
  switch (kind) {
    case TopFindingKind::kLost: return "lost";
    case TopFindingKind::kRefused: return "refused";
    case TopFindingKind::kLimit: return "limit";
    case TopFindingKind::kGrows: return "grows";
    case TopFindingKind::kChurn: return "churn";
  }
  return "";
}

}  // namespace heapprof::cli
