// cli/write/report/finding_language.h: in which language a finding gives advice.
#pragma once

#include "cli/model/analysis/findings.h"

namespace heapprof::cli {

enum class Language { kC, kCpp, kRust, kPython, kOther };

// Of the place's source file, by its name.
Language language_of(const Profile& profile, const Finding& finding);

}  // namespace heapprof::cli
