// cli/write/html/page_template.h: the page without data, built from cli/page (cli/page/README.md), and included in
// heapprof.
#pragma once

#include <string_view>

namespace heapprof::cli {

// The parts before and after the data.
struct PageTemplate {
  std::string_view head;
  std::string_view tail;
};
PageTemplate page_template();

}  // namespace heapprof::cli
