// cli/model/analysis/wrapper_shape.h: functions that nobody has heard of, and that do nothing but pass a size on to the
// allocator.
//
// It is a guess, so much has to agree. A function is taken for a wrapper if
//  - a quarter of a device's bytes (of the peak, of all, or of those live at the end) are its own;
//  - all of its blocks come from one line of it, and nothing but the allocator, or a wrapper, is called there;
//  - it is in no stack twice;
//  - it has eight callers or more, a thousand blocks, and to at least half of its callers, and five, it gave blocks of
//    one size a stack, four sizes in all: the size is the caller's choice, and not its own;
//  - or its name ends in the word alloc, malloc, calloc, zalloc, realloc or allocate: then three callers are enough,
//    two sizes, and six blocks.
// So a function that loads, copies or grows something keeps its rows: its blocks have many sizes in one stack. And so
// does one that makes objects of one kind: they have one size whoever asks.
//
// Not provided: certainty. A function that makes images of sizes that its callers fix looks the same as a wrapper.
//           Without names and without sizes (other tools' profiles have none) nothing is recognised.
// Trust:    names and numbers are strangers'.
#pragma once

#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace heapprof::cli {

// The functions (PlaceTree::functions) of which places are wrappers that are not folded yet.
std::vector<uint32_t> find_wrappers(const Profile& profile, const PlaceTree& tree);

// Whether the name itself says that it allocates: "pool_alloc", "Arena::allocate", "myMalloc"; not "allocate_scene".
bool says_that_it_allocates(std::string_view plain);

}  // namespace heapprof::cli
