// cli/model/analysis/folding.h: attributes the allocations of wrappers around the allocator to their callers.
//
// For example, zmalloc allocates every block of redis, so a row for it says nothing. The allocations of a folded
// function count for its callers, as those of malloc do. cli/model/analysis/places.h says what can be folded: only
// functions between the allocator and the place, and only if a caller with a name is known.
//
// A function is folded
//  - by its name, if it is a wrapper that many programs have; or a class's operator new, unless it allocates pieces
//    from which it cuts objects;
//  - by a rule of the user: `--fold GLOB`, or a line "fold function:GLOB" in a file of suppressions;
//  - by its observed behaviour (cli/model/analysis/wrapper_shape.h).
//
// Guarantees
//  - Only Profile::folds changes: counts and the frames of stacks do not change. Some stacks of a Python program get
//    additional frames, so the profile must not be read at the same time.
//  - In profiles that are marked together, the same functions are folded, so that the profiles can be compared.
//    Functions are the same if they have the same name, including parameters, and files of the same name. If one of the
//    profiles shows that a function is not a wrapper, it is not folded in any of them.
// Cost:     one look-up for each pair of a frame and a user's rule, and a few passes over nodes and sites.
#pragma once

#include "cli/base/problems.h"
#include "cli/model/analysis/frame_pattern.h"
#include "cli/model/analysis/places.h"
#include "cli/model/profile/profile.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

struct CodeRule {
  FramePattern pattern;
  CodeOwner owner = CodeOwner::kUnsaid;
};

struct FoldRules {
  std::vector<FramePattern> patterns;  // of the user
  size_t from_flags = 0;               // the first so many are from flags, the others from files
  bool all_frames = false;             // nothing is folded
  bool libraries = false;              // any frame can be a place, and imports of Python have no rows of their own
  std::vector<CodeRule> code;          // these say whose code a frame is; the first match counts
};

// Sets Profile::folds, and before that adds rows for imports (cli/model/analysis/python/marks.h).
void mark_folded(const FoldRules& rules, Profile* profile);
// The same. Also sets *tree to the profile's tree of places, which it needs anyway.
void mark_folded(const FoldRules& rules, Profile* profile, PlaceTree* tree);
void mark_folded(const FoldRules& rules, std::span<Profile* const> profiles);

// The user's rules that no function of the profiles matches. A file's rules are for several programs, so they are
// included only with with_files.
std::vector<Problem> find_unused_folds(const FoldRules& rules, std::span<const Profile* const> profiles,
                                       bool with_files);

// What a function's plain name (cli/base/function_name.h) says about it.
enum class WrapperFame : uint8_t {
  kNone,
  kKnown,
  kMakesObjects,  // a wrapper, unless its blocks are pieces for several objects
  kMayCut,        // a wrapper, unless all its blocks are pieces of one size
};
WrapperFame wrapper_fame(std::string_view plain);

// The functions whose blocks on the devices were attributed to their callers: the outermost one of each stack. Those
// with most bytes, allocated over the whole run, come first.
struct FoldedFunction {
  uint32_t frame = 0;
  FrameFold fold = FrameFold::kKnown;
  uint64_t total_bytes = 0;
};
std::vector<FoldedFunction> find_folded(const Profile& profile, const PlaceTree& tree,
                                        std::span<const Device* const> devices);

// The names of these functions, in the order of find_folded(): "zmalloc"; "grab (recognised)"; "grab (a.c, recognised)"
// if another grab is not folded; "zmalloc (named callers)" if it stays the place of blocks whose caller has no name.
std::vector<std::string> find_folded_names(const Profile& profile, const PlaceTree& tree,
                                           std::span<const Device* const> devices);
// For all devices.
std::vector<std::string> find_folded_names(const Profile& profile);

}  // namespace heapprof::cli
