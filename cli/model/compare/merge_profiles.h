// cli/model/compare/merge_profiles.h: merges several profiles by site: processes of a run, ranks of a job, runs of a
// program.
//
// Sites of several inputs are the same if they have the same path: frames with the same function, source line and
// address, in the same module. Modules are the same if they have the same file name, and either the same build id or
// both no build id.
//
// Guarantees
//  - Totals, leaks, temporary blocks and lifetimes add up exactly; the result is canonical and meets
//    cli/model/profile/invariants.h.
//  - The peak is the sum of what each process had at its own peak. These moments differ, so that much memory was never
//    in use at once. Profile::merged keeps each process's own peak. There is no timeline, and no live bytes of sites at
//    moments.
//  - The result is the same to the byte for any order of profiles, and any merges in between (unit/read, "any tree of
//    merges …"): a process is identified by its entry in `merged`. Rows that were summed before the merge
//    (group_small_sites()) stay summed, and rows of a device's API calls beyond kMostApiRows stay summed as in the
//    first merge that had too many.
//  - It keeps, for each site, the smallest and largest value of a process, and which process had the largest
//    (site_spread.h).
// Not provided: the peak of the machine, because the profiles do not say how their moments relate.
// Context:  one thread per merger; several mergers may work at the same time.
// Cost:     as canonicalize, a few times; memory for the result and a few inputs, regardless of their number.
#pragma once

#include "cli/base/result.h"
#include "cli/model/profile/profile.h"

#include <map>
#include <string>
#include <vector>

namespace heapprof::cli {

class ProfileMerger {
 public:
  // Adds a profile that was read from `file`. Returns a problem if its kind differs from that of the profiles before.
  Result<Done> add(Profile profile, const std::string& file);
  // How many profiles were added; a sum counts once.
  size_t inputs() const { return added_; }
  // pre: something was added.
  Profile take();

 private:
  // The moment of the largest peak that an input has on a device; of equal peaks the earliest.
  struct PeakMoment {
    uint64_t peak_bytes = 0;
    uint64_t peak_ns = UINT64_MAX;
    uint64_t max_blocks_ns = UINT64_MAX;
  };
  using Input = std::vector<MergedPart>;  // one for each device

  uint32_t find_module(const ProfileModule& module);
  struct Offsets {
    uint32_t node;
    uint32_t input;
  };
  void add_tree(Profile* from, uint32_t first_input);
  void add_devices(Profile* from, Offsets offsets);
  void add_inputs(const Profile& from, const std::string& file);
  void order_modules();
  void order_inputs();
  void settle();

  Profile sum_;
  std::vector<Input> inputs_;
  std::map<std::string, PeakMoment> moments_;           // by device
  std::map<std::string, uint32_t> module_of_identity_;  // build id and file name
  std::string first_file_;
  size_t added_ = 0;
  size_t canonical_nodes_ = 0;
};

}  // namespace heapprof::cli
