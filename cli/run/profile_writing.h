// cli/run/profile_writing.h: writes a profile's file, if possible while other work is done.
#pragma once

#include "cli/base/result.h"
#include "cli/model/profile/profile.h"

#include <functional>
#include <optional>
#include <string>

namespace heapprof::cli {

// Checks whether the file can be made, so that an error is reported before the program runs, and not hours later.
Result<Done> try_output(const std::string& path);

// Returns the path that was written. If the requested file exists and may not be overwritten, that is another path.
Result<std::string> write_profile(const Profile& profile, const std::string& path, bool may_overwrite);

// The same, but if that fails (the disk is full, or the program has removed the folder), the profile is written as
// `spare_name` in a folder for temporary files, and *elsewhere is the reason. spare_name empty: no second try.
Result<std::string> write_profile(const Profile& profile, const std::string& path, bool may_overwrite,
                                  const std::string& spare_name, std::optional<Problem>* elsewhere);

// Calls `write` in a new thread, and at the same time `other` in this one. If no thread can be started, or memory is
// limited, calls one after the other. An exception that either throws is rethrown here, once the thread has ended.
Result<std::string> write_beside(const std::function<Result<std::string>()>& write, const std::function<void()>& other);

}  // namespace heapprof::cli
