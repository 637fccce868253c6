// cli/write/report/finding_language.cc: see finding_language.h.
#include "cli/write/report/finding_language.h"

#include "cli/model/analysis/python/paths.h"

#include <string_view>

namespace heapprof::cli {

Language language_of(const Profile& profile, const Finding& finding) {
  if (!finding.has_frame) return Language::kOther;
  const Frame& frame = profile.frames[finding.frame];
  if (is_of_python(profile, frame)) return Language::kPython;
  for (const std::string_view ending : {".cc", ".cpp", ".cxx", ".C", ".c++", ".hh", ".hpp", ".hxx", ".cu"}) {
    if (frame.file.ends_with(ending)) return Language::kCpp;
  }
  if (frame.file.ends_with(".c")) return Language::kC;
  if (frame.file.ends_with(".rs")) return Language::kRust;
  // Only C++'s names have parameters.
  const bool may_be_cpp = frame.file.empty() || frame.file.ends_with(".h");
  return may_be_cpp && frame.function.find('(') != std::string::npos ? Language::kCpp : Language::kOther;
}

}  // namespace heapprof::cli
