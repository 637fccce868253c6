// cli/read/point_reader.h: turns DHAT's program points into sites, and their frame lists into a tree.
//
// Points come before the frame table in the files of all three writers. So frames are kept as indexes into that table,
// and checked once it is read.
#pragma once

#include "cli/model/profile/node_table.h"
#include "cli/model/profile/profile.h"
#include "cli/read/json_pull.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

class PointReader {
 public:
  // Fills `nodes`, whose frames are indexes into the frame table.
  explicit PointReader(std::vector<FrameNode>* nodes) : table_(nodes) {}

  // The array "pps". lifetime_ns holds "tl" in the file's own unit.
  void read(JsonPull* json, std::vector<Site>* sites);

  // A list of frames as in a point's "fs".
  void read_stack(JsonPull* json, uint32_t* node);

  uint64_t largest_frame() const { return largest_frame_; }
  // Every point had all of: tl mb mbk gb gbk eb ebk.
  bool all_have_lifetimes() const { return all_have_lifetimes_; }

 private:
  void read_point(JsonPull* json, Site* site);

  NodeTable table_;
  std::vector<uint32_t> stack_;
  std::string key_;
  uint64_t largest_frame_ = 0;
  bool all_have_lifetimes_ = true;
};

}  // namespace heapprof::cli
