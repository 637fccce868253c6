// cli/run/page_files.cc: see page_files.h.
#include "cli/run/page_files.h"

#include "cli/base/atomic_file.h"
#include "cli/write/text/run_text.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace heapprof::cli {

Result<std::string> save_report_page(const PageSide& side, const std::string& path) {
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file) return file.problem();
  write_report_page(side, &*file);
  return file->commit();
}

void print_saved_page(const std::string& path, ColorMode color) {
  fmt::print(stderr, "saved  {}  opens in a browser, without a network\n",
             pasted_file(path, inspect_terminal(STDERR_FILENO, color).utf8));
}

}  // namespace heapprof::cli
