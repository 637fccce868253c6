// cli/check/commit.h: which commit is being tried: as CI says, else as git says of the current folder.
#pragma once

#include <functional>
#include <string>

namespace heapprof::cli {

// `given` if it is not empty; else GITHUB_SHA, CI_COMMIT_SHA; else git's HEAD; empty where nobody knows.
std::string find_commit(const std::string& given);

// The same with an environment of the caller's, without asking git. For tests.
std::string commit_of_environment(const std::function<const char*(const char* variable)>& environment);

}  // namespace heapprof::cli
