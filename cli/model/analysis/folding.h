// cli/model/analysis/folding.h: wrappers around the allocator, which are not the answer to "where": their callers are.
//
// Every block of redis is made by zmalloc, and a row that says so says nothing. A folded function hands its rows to
// whoever called it, as malloc itself does; cli/model/analysis/places.h has what is folded at all: only functions
// between the allocator and the place, and only where a caller with a name is known.
//
// A function is folded
//  - by its name, where it is a wrapper that many programs have; or an operator new of a class, unless it takes pieces
//    that are no objects;
//  - by a rule of the user's: `--fold GLOB`, or a line "fold function:GLOB" in a file of suppressions;
//  - by what it was seen to do (cli/model/analysis/wrapper_shape.h).
//
// Guarantees
//  - The profile stays as it is, but for Profile::folds: what was counted, and which frames stand in a stack. Of a
//    Python program's stacks some get frames more: nobody may read the profile meanwhile.
//  - Of profiles that are marked together the same functions are folded, so that they can be compared: those of one
//    name, parameters included, in files of one name. What one of the profiles shows to be no wrapper is folded in
//    none.
// Cost:     a look-up for each frame and user's rule, and a few passes over nodes and sites.
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
  std::vector<FramePattern> patterns;  // of the user's
  size_t from_flags = 0;               // the first so many are not of files
  bool all_frames = false;             // nothing is folded
  bool libraries = false;              // any frame is a place, and imports of Python have no rows of their own
  std::vector<CodeRule> code;          // whose code frames are; the first that fits says it
};

// Sets Profile::folds, and before that adds rows for imports (cli/model/analysis/python/marks.h).
void mark_folded(const FoldRules& rules, Profile* profile);
// The same; gives the profile's tree of places, which is made on the way.
void mark_folded(const FoldRules& rules, Profile* profile, PlaceTree* tree);
void mark_folded(const FoldRules& rules, std::span<Profile* const> profiles);

// The user's rules that no function of the profiles matches. Lines of files are for several programs, so only some
// readers ask for them.
std::vector<Problem> find_unused_folds(const FoldRules& rules, std::span<const Profile* const> profiles,
                                       bool with_files);

// What a function's plain name (cli/base/function_name.h) says of it.
enum class WrapperFame : uint8_t {
  kNone,
  kKnown,
  kMakesObjects,  // a wrapper, unless its blocks are no objects
  kMayCut,        // a wrapper, unless all its blocks are pieces of one size
};
WrapperFame wrapper_fame(std::string_view plain);

// The functions that handed blocks of the devices to their callers: of each stack the outermost one. Those with most
// bytes, allocated over the whole run, come first.
struct FoldedFunction {
  uint32_t frame = 0;
  FrameFold fold = FrameFold::kKnown;
  uint64_t total_bytes = 0;
};
std::vector<FoldedFunction> find_folded(const Profile& profile, const PlaceTree& tree,
                                        std::span<const Device* const> devices);

// Their names, in that order: "zmalloc"; "grab (recognised)"; "grab (a.c, recognised)" where another grab is not
// folded; "zmalloc (named callers)" where it kept the rest.
std::vector<std::string> find_folded_names(const Profile& profile, const PlaceTree& tree,
                                           std::span<const Device* const> devices);
// Of all devices.
std::vector<std::string> find_folded_names(const Profile& profile);

}  // namespace heapprof::cli
