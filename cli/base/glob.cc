// cli/base/glob.cc: no recursion: only the latest * is retried, because an earlier one could not match more.
#include "cli/base/glob.h"

namespace heapprof::cli {

bool glob_matches(std::string_view glob, std::string_view text) {
  constexpr size_t kNone = std::string_view::npos;
  size_t at = 0;
  size_t in_text = 0;
  size_t star = kNone;
  size_t star_end = 0;  // end of the text that the latest * matched
  while (in_text < text.size()) {
    if (at < glob.size() && glob[at] == '*') {
      star = at++;
      star_end = in_text;
    } else if (at < glob.size() && (glob[at] == '?' || glob[at] == text[in_text])) {
      ++at;
      ++in_text;
    } else if (star != kNone) {
      at = star + 1;
      in_text = ++star_end;
    } else {
      return false;
    }
  }
  while (at < glob.size() && glob[at] == '*') ++at;
  return at == glob.size();
}

}  // namespace heapprof::cli
