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
//  - The result is the same to the byte in whatever order profiles come, and however often they were merged in
//    between (unit/read, "any tree of merges …"): a process's part in it is told by what `merged` says of the process.
//    Rows that were summed before it was merged (group_small_sites()) stay summed, and calls of a device's API beyond
//    kMostApiRows are those of the merge that first had too many.
//  - Of each site the smallest, the largest, and whose it was (site_spread.h).
// Not provided: a peak of the machine; the profiles do not say how their moments relate.
// Context:  one thread each; several mergers may work at the same time.
// Cost:     as canonicalize, a few times; memory for the result and few inputs, whatever their number.
#pragma once

#include "cli/base/result.h"
#include "cli/model/profile/profile.h"

#include <map>
#include <string>
#include <vector>

namespace heapprof::cli {

class ProfileMerger {
 public:
  // Adds a profile that was read from `file`; a problem if it is of another kind than those before.
  Result<Done> add(Profile profile, const std::string& file);
  // How many profiles were added, those that were sums counted once.
  size_t inputs() const { return added_; }
  // pre: something was added.
  Profile take();

 private:
  // Which of a device's inputs is the one that its peak's moment is of: the largest, then the earliest.
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
