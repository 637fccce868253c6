// cli/model/top/top_findings.h: problems that a user should look at, found in the current numbers.
//
//   lost      events were lost: the numbers are too small
//   refused   a device refused memory to the program
//   limit     nine tenths of a limit of `run --limit` are live
//   grows     a place's live bytes have risen in ten samples or more without a fall, by at least 1 MiB and by at least
//             a hundredth of what is live on the device
//   churn     a place allocated 10,000 blocks a second or more since the previous sample, and nine tenths of them were
//             freed before the next allocation
//
// Findings are in this order, and those of places have the largest first. A finding disappears when its condition no
// longer holds.
//
// Not provided: certainty. A cache that is being filled grows, too.
#pragma once

#include "cli/model/top/top_board.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

enum class TopFindingKind { kLost, kRefused, kLimit, kGrows, kChurn };

struct TopFinding {
  TopFindingKind kind = TopFindingKind::kLost;
  std::string device;    // empty: of none
  TopPlace place;        // empty: of none
  uint64_t bytes = 0;    // kGrows: how far it has risen; kLimit: what is live
  uint64_t time_ns = 0;  // kGrows: in which time
  uint64_t count = 0;    // kLost: events; kRefused: times; kChurn: blocks a second
  uint64_t limit_bytes = 0;
};

std::vector<TopFinding> find_top_findings(const TopBoard& board);

// The kind's name in JSON.
const char* finding_word(TopFindingKind kind);

}  // namespace heapprof::cli
