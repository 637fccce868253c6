// cli/model/analysis/moment.h: one snapshot of a profile: which one is meant, and the profile that it is.
#pragma once

#include "cli/base/result.h"
#include "cli/model/profile/profile.h"

#include <string>
#include <utility>

namespace heapprof::cli {

// The place of the snapshot that is called so: by its number, from 1; or by its mark, "name" or "category:name". A
// problem if there is none, or if several marks have the name. `file` is what messages call the profile.
Result<uint32_t> find_snapshot(const Profile& profile, const std::string& name, const std::string& file);

// "A..B", two of these.
struct SnapshotPair {
  uint32_t base = 0;
  uint32_t current = 0;
};
Result<SnapshotPair> find_snapshot_pair(const Profile& profile, const std::string& text, const std::string& file);

// The profile of that moment: of each site what was live at it, and nothing else is known. pre: there is such a
// snapshot
void keep_moment(uint32_t snapshot, Profile* profile);

}  // namespace heapprof::cli
