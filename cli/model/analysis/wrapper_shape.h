// cli/model/analysis/wrapper_shape.h: recognises unknown functions that only pass a size on to the allocator.
//
// It is a guess, so many conditions must hold. A function counts as a wrapper if
//  - it is the place of at least a quarter of a device's bytes (at the peak, in all, or live at the end);
//  - all of its blocks there come from one line of it, and that line calls only the allocator, or a wrapper;
//  - it is in no stack twice;
//  - it has at least 8 callers and 1,000 blocks. At least half of the callers, and at least 5, got blocks of a single
//    size in each stack, with at least 4 different sizes in all. So the callers choose the size, and not the function;
//  - or its name ends in the word alloc, malloc, calloc, zalloc, realloc or allocate: then 3 callers are enough, 2 of
//    them with one size in each stack, 2 different sizes, and 6 blocks;
//  - and nothing that it allocates on another device contradicts this: several lines, one size for all, sizes that
//    differ in most stacks. A function that passes sizes on to malloc, but chooses the size of pieces that it maps, is
//    no wrapper.
// So a function that loads, copies or grows something is not folded, because its blocks have many sizes in one stack. A
// function that makes objects of one kind is not folded either, because they have one size for all callers.
//
// Not provided: certainty. A function that makes images of sizes that its callers choose looks like a wrapper. Without
//           names or without sizes (other tools' profiles have none) nothing is recognised.
// Trust:    names and numbers are untrusted.
// Cost:     at most twelve functions of a device can have a quarter of one of the three sums. For each of them, its
//           sites are visited, and the nodes further out once.
#pragma once

#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heapprof::cli {

// The blocks whose place is in each user function (PlaceTree::functions). Keeps references to both.
class OwnBlocks {
 public:
  OwnBlocks(const Profile& profile, const PlaceTree& tree);

  bool has(uint32_t function) const { return parts_.contains(function); }

  // The functions that look like wrappers and are not folded yet.
  std::vector<uint32_t> find_wrappers();

  // Whether the function's allocations show that it is not a wrapper. A few blocks prove nothing.
  bool contradicts(uint32_t function);

  // Whether the function allocates pieces from which it cuts smaller blocks. If makes_objects is set, this is so if a
  // stack has blocks of several sizes, or if a block has at least 4 KiB, because one expression makes objects of one
  // size, and few objects are so large. For other functions the only evidence is one size, of at least 4 KiB, for all
  // callers.
  bool cuts_pieces(uint32_t function, bool makes_objects) const;

 private:
  __extension__ using Wide = unsigned __int128;  // sums of untrusted numbers: they must not overflow

  struct Sums {
    Wide peak_bytes = 0;
    Wide total_bytes = 0;
    Wide leaked_bytes = 0;

    void add(const Site& site);
    bool is_quarter_of(const Sums& all) const;
  };
  // For one device.
  struct Part {
    uint32_t device = 0;
    Sums sums;
    std::vector<uint32_t> sites;  // indexes into Device::sites
  };
  struct Look {
    bool is_wrapper = false;
    bool contradicts = false;
    bool has_one_size = false;
    uint32_t frame = 0;
  };

  Look look_at(uint32_t function, const Part& part);
  bool is_next_to_allocator(uint32_t node, uint32_t place) const;
  bool is_further_out(uint32_t function, uint32_t node);
  bool is_same_call(uint32_t frame, uint32_t other) const;
  const Frame& frame_at(uint32_t node) const { return profile_.frames[profile_.nodes[node].frame]; }

  const Profile& profile_;
  const PlaceTree& tree_;
  std::vector<Sums> all_;                                  // by device
  std::unordered_map<uint32_t, std::vector<Part>> parts_;  // by function
  std::vector<uint32_t> seen_;                             // by node: number of the last look_at() that visited it
  uint32_t looks_ = 0;
};

// Whether the name itself says that it allocates: "pool_alloc", "Arena::allocate", "myMalloc"; not "allocate_scene".
bool says_that_it_allocates(std::string_view plain);

}  // namespace heapprof::cli
