// cli/model/top/top_findings.h: what a watcher should look at, from the numbers at hand.
//
//   lost      events were lost: the numbers are too small
//   refused   a device had no memory for the program
//   limit     nine tenths of a limit of `run --limit` are live
//   grows     a place has risen in ten samples or more without a fall, by 1 MiB at least and by a hundredth of what is
//             live on the device
//   churn     a place made 10,000 blocks a second or more since the sample before, nine tenths of which were freed
//             before the next allocation
//
// They come in this order, those of places with the largest first, and go when they hold no more.
//
// Not provided: certainty. A cache that fills grows, too.
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

// As JSON has it.
const char* finding_word(TopFindingKind kind);

}  // namespace heapprof::cli
