// cli/write/html/page_template.cc: the assembler includes the built file in the read-only data.
#include "cli/write/html/page_template.h"

asm(".pushsection .rodata\n"
    "heapprof_page_begin: .incbin \"" HEAPPROF_PAGE_FILE
    "\"\n"
    "heapprof_page_end: .byte 0\n"
    ".popsection\n");

extern "C" {
[[gnu::visibility("hidden")]] extern const char heapprof_page_begin[];
[[gnu::visibility("hidden")]] extern const char heapprof_page_end[];
}

namespace heapprof::cli {

PageTemplate page_template() {
  constexpr std::string_view kPlace = "<!--heapprof:data-->";
  const std::string_view page(heapprof_page_begin, static_cast<size_t>(heapprof_page_end - heapprof_page_begin));
  const size_t at = page.find(kPlace);  // the template's test checks that it occurs exactly once
  return {page.substr(0, at), page.substr(at + kPlace.size())};
}

}  // namespace heapprof::cli
