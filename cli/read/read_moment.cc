// cli/read/read_moment.cc: a file's name and a mark's name may contain an @: the first @ that follows the name of an
// existing file separates them.
#include "cli/read/read_moment.h"

#include "cli/model/analysis/moment.h"
#include "cli/read/read_profile.h"

#include <unistd.h>

namespace heapprof::cli {

Result<Profile> read_profile_or_moment(const std::string& name) {
  if (access(name.c_str(), F_OK) == 0) return read_profile(name);
  for (size_t at = name.find('@'); at != std::string::npos; at = name.find('@', at + 1)) {
    const std::string file = name.substr(0, at);
    if (file.empty() || access(file.c_str(), F_OK) != 0) continue;
    Result<Profile> profile = read_profile(file);
    if (!profile) return profile.problem();
    const Result<uint32_t> snapshot = find_snapshot(*profile, name.substr(at + 1), file);
    if (!snapshot) return snapshot.problem();
    keep_moment(*snapshot, &*profile);
    return profile;
  }
  return read_profile(name);
}

}  // namespace heapprof::cli
