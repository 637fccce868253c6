// cli/model/profile/merged_part.h: what a merged profile keeps of each of its inputs, one entry for each device of
// each.
#pragma once

#include "cli/model/profile/run.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

struct MergedPart {
  uint32_t input = 0;  // number of the profile, from 0
  std::string file;    // its file's name
  std::vector<std::string> command;
  uint64_t pid = 0;
  RunEnd end;
  uint64_t duration_ns = 0;
  bool complete = true;
  std::string device;
  uint64_t peak_bytes = 0;
  uint64_t peak_ns = 0;
  uint64_t leaked_bytes = 0;
  uint64_t total_bytes = 0;
  uint64_t total_blocks = 0;
};

}  // namespace heapprof::cli
