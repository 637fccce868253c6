// cli/write/report/operators_text.h: the table of PyTorch's operators behind that of scopes.
#pragma once

#include "cli/model/profile/profile.h"
#include "cli/write/report/scopes/scopes_text.h"

#include <string>

namespace heapprof::cli {

// Empty: the profile has no operators.
std::string operators_text(const Profile& profile, const ScopesLook& look);

}  // namespace heapprof::cli
