// cli/run/profile_writing.h: writes a profile's file, and does other work at the same time.
#pragma once

#include "cli/base/result.h"
#include "cli/model/profile/profile.h"

#include <functional>
#include <optional>
#include <string>

namespace heapprof::cli {

// Tries whether the file can be made, so that an error comes before the program runs, and not after hours.
Result<Done> try_output(const std::string& path);

// Returns the path that was written: another one than was asked for if that exists and may not be overwritten.
Result<std::string> write_profile(const Profile& profile, const std::string& path, bool may_overwrite);

// If the disk is full, or the program has removed the folder, the profile is still written: as `spare_name` in a folder
// for temporary files (empty: it is not), and *elsewhere is the reason.
Result<std::string> write_profile(const Profile& profile, const std::string& path, bool may_overwrite,
                                  const std::string& spare_name, std::optional<Problem>* elsewhere);

// Calls `write` in a new thread and `other` in this one; one after the other if no thread can be started, or if
// memory is limited. An exception of either is rethrown here, after both.
Result<std::string> write_beside(const std::function<Result<std::string>()>& write, const std::function<void()>& other);

}  // namespace heapprof::cli
