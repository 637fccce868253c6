// cli/model/analysis/wrapper_shape.h: functions that nobody has heard of, and that do nothing but pass a size on to the
// allocator.
//
// It is a guess, so much has to agree. A function is taken for a wrapper if
//  - a quarter of a device's bytes (of the peak, of all, or of those live at the end) are its own;
//  - all of its blocks there come from one line of it, and nothing but the allocator, or a wrapper, is called there;
//  - it is in no stack twice;
//  - it has eight callers or more, a thousand blocks, and to at least half of its callers, and five, it gave blocks of
//    one size a stack, four sizes in all: the size is the caller's choice, and not its own;
//  - or its name ends in the word alloc, malloc, calloc, zalloc, realloc or allocate: then three callers are enough,
//    two sizes, and six blocks;
//  - and nothing that it allocates on another device says otherwise: several lines, one size for all, sizes that differ
//    in most stacks. Who passes sizes on to malloc and maps pieces as large as it likes is no wrapper.
// So a function that loads, copies or grows something keeps its rows: its blocks have many sizes in one stack. And so
// does one that makes objects of one kind: they have one size whoever asks.
//
// Not provided: certainty. A function that makes images of sizes that its callers fix looks the same as a wrapper.
//           Without names and without sizes (other tools' profiles have none) nothing is recognised.
// Trust:    names and numbers are strangers'.
// Cost:     at most twelve functions of a device can have a quarter of something. Each of them costs its sites, and the
//           nodes outside of them once.
#pragma once

#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace heapprof::cli {

// What each function (PlaceTree::functions) of the program's own is the place of. Keeps references to both.
class OwnBlocks {
 public:
  OwnBlocks(const Profile& profile, const PlaceTree& tree);

  bool has(uint32_t function) const { return parts_.contains(function); }

  // The functions that look like wrappers, and are not folded yet.
  std::vector<uint32_t> find_wrappers();

  // Whether what the function allocates says that it is none; few blocks say nothing.
  bool contradicts(uint32_t function);

  // Whether it takes pieces, from which it cuts what it was asked for. Objects of one expression have one size, and
  // few have 4 KiB; of other functions only one large size, whoever asks, says so.
  bool cuts_pieces(uint32_t function, bool makes_objects) const;

 private:
  __extension__ using Wide = unsigned __int128;  // sums of strangers' numbers, of which none may reach its end

  struct Sums {
    Wide peak_bytes = 0;
    Wide total_bytes = 0;
    Wide leaked_bytes = 0;

    void add(const Site& site);
    bool is_quarter_of(const Sums& all) const;
  };
  // Of one device.
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
  std::vector<uint32_t> seen_;                             // by node: the last look that came through it
  uint32_t looks_ = 0;
};

// Whether the name itself says that it allocates: "pool_alloc", "Arena::allocate", "myMalloc"; not "allocate_scene".
bool says_that_it_allocates(std::string_view plain);

}  // namespace heapprof::cli
