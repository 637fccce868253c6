// cli/base/output.h: stdout is the product: written whole, or the user is told.
#pragma once

#include <string_view>

namespace heapprof::cli {

// Writes all of `text` on stdout. 0; also if the reader went away (a broken pipe ends quietly); 1 after saying what is wrong.
int print_output(std::string_view text);

}  // namespace heapprof::cli
