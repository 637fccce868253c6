// cli/run/profile_writing.h: a profile's file, and what can be done while it is written.
#pragma once

#include "cli/base/result.h"
#include "cli/model/profile/profile.h"

#include <functional>
#include <optional>
#include <string>

namespace heapprof::cli {

// Tries whether the file can be made: the user learns of it before the program runs, and not after hours.
Result<Done> try_output(const std::string& path);

// The path that was written: another one than was asked for where that exists and may not be overwritten.
Result<std::string> write_profile(const Profile& profile, const std::string& path, bool may_overwrite);

// A disk that is full, or a folder that the program has removed, costs the profile its place, and not the run its
// result: it is written under `spare_name` to a folder for temporary files then (empty: it is not), and *elsewhere is
// why.
Result<std::string> write_profile(const Profile& profile, const std::string& path, bool may_overwrite,
                                  const std::string& spare_name, std::optional<Problem>* elsewhere);

// Does `write` in a thread of its own and `meanwhile` in this one; one after the other where no thread is to be had, or
// where memory is limited. What either throws comes out here, after both.
Result<std::string> write_beside(const std::function<Result<std::string>()>& write,
                                 const std::function<void()>& meanwhile);

}  // namespace heapprof::cli
