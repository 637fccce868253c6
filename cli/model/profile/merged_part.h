// cli/model/profile/merged_part.h: what a merged profile keeps of its inputs: one entry for each device of each input.
#pragma once

#include "cli/model/profile/run.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// A row of the input's own report: an allocation site by source line, and its bytes at the device's peak.
struct PartRow {
  std::string text;  // "decode (tile.cc:88)"
  uint64_t peak_bytes = 0;
};
inline constexpr size_t kMostPartRows = 3;

struct MergedPart {
  uint32_t input = 0;  // number of the profile, from 0
  std::string file;    // its file's name
  std::vector<std::string> command;
  uint64_t pid = 0;
  uint32_t image = 0;
  int64_t start_unix_ns = 0;
  Job job;
  RunEnd end;
  uint64_t duration_ns = 0;
  bool complete = true;
  std::string device;
  uint64_t peak_bytes = 0;
  uint64_t peak_ns = 0;
  uint64_t leaked_bytes = 0;
  uint64_t total_bytes = 0;
  uint64_t total_blocks = 0;
  std::vector<PartRow> rows;  // those with the most at the peak, the largest first
};

}  // namespace heapprof::cli
