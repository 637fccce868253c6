// cli/run/page_files.h: writes HTML pages to files.
#pragma once

#include "cli/base/result.h"
#include "cli/base/terminal.h"
#include "cli/write/html/page.h"

#include <string>

namespace heapprof::cli {

// Writes the page of one profile. The file is complete, or is not written at all. Returns its path.
Result<std::string> save_report_page(const PageSide& side, const std::string& path);

// "saved  r.html  opens in a browser, without a network", on stderr.
void print_saved_page(const std::string& path, ColorMode color);

}  // namespace heapprof::cli
