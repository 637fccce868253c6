// cli/model/analysis/moment.h: finds a snapshot of a profile by name, and turns it into a profile.
#pragma once

#include "cli/base/result.h"
#include "cli/model/profile/profile.h"

#include <string>
#include <utility>

namespace heapprof::cli {

// The index of the snapshot that `name` selects: by its number, from 1, or by its mark, as "name" or "category:name".
// Returns a problem if there is no such snapshot, or if several marks have the name. `file` is the profile's name in
// messages.
Result<uint32_t> find_snapshot(const Profile& profile, const std::string& name, const std::string& file);

// Two snapshots, from a text "A..B".
struct SnapshotPair {
  uint32_t base = 0;
  uint32_t current = 0;
};
Result<SnapshotPair> find_snapshot_pair(const Profile& profile, const std::string& text, const std::string& file);

// Reduces the profile to that moment: a site keeps only the bytes and blocks that were live then. pre: the snapshot
// exists
void keep_moment(uint32_t snapshot, Profile* profile);

}  // namespace heapprof::cli
