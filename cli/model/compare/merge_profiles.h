// cli/model/compare/merge_profiles.h: several profiles as one, by site: processes of a run, ranks of a job, runs of a
// program.
//
// A site is one of several inputs if it has the same path: frames of one function, place and address, in modules that
// are the same by build id, or by file name where there is none.
//
// Guarantees
//  - Totals, leaks, temporary blocks and lifetimes add up exactly; the result is canonical and holds
//    cli/model/profile/invariants.h.
//  - What is added as peak is what each process had at its own peak: those moments differ, so the sum is no amount of
//    memory that was ever in use, and Profile::merged keeps every process's own. There is no timeline,
//    and nothing of what sites held at moments.
//  - The result does not depend on how often it was merged in between: merging A with B, then with C, is merging all
//    three.
// Not provided: a peak of the machine; the profiles do not say how their moments relate.
// Cost:     as canonicalize, a few times; memory for the result and one input.
#pragma once

#include "cli/base/result.h"
#include "cli/model/profile/profile.h"

#include <string>

namespace heapprof::cli {

class ProfileMerger {
 public:
  // Adds a profile that was read from `file`; a problem if it is of another kind than those before.
  Result<Done> add(Profile profile, const std::string& file);
  size_t inputs() const { return inputs_; }
  // pre: something was added.
  Profile take();

 private:
  uint32_t find_module(const ProfileModule& module);
  void add_tree(Profile* from);
  void add_devices(Profile* from, uint32_t first_node);
  void add_run(const RunInfo& run, const std::string& file);
  void add_parts(const Profile& from, const std::string& file);

  Profile sum_;
  std::string first_file_;
  size_t inputs_ = 0;
  size_t canonical_nodes_ = 0;
  bool is_same_command_ = true;
};

struct PeakSpread {
  size_t parts = 0;
  uint64_t smallest_bytes = 0;
  uint64_t median_bytes = 0;
  uint64_t largest_bytes = 0;
  const MergedPart* largest = nullptr;
  std::vector<const MergedPart*> outliers;  // further from the median than a quarter of it, the furthest first
  uint64_t smallest_other_bytes = 0;        // of those that are none
  uint64_t largest_other_bytes = 0;
};
// The peaks of one device over the inputs. parts is 0 if the profile is not merged.
PeakSpread find_peak_spread(const Profile& profile, const std::string& device);

}  // namespace heapprof::cli
