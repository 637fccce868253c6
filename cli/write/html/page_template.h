// cli/write/html/page_template.h: the page without data, as it was built from cli/page (cli/page/README.md) and is part
// of heapprof.
#pragma once

#include <string_view>

namespace heapprof::cli {

// What stands before the data, and what behind it.
struct PageTemplate {
  std::string_view head;
  std::string_view tail;
};
PageTemplate page_template();

}  // namespace heapprof::cli
