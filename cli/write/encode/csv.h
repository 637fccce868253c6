// cli/write/encode/csv.h: cells of comma-separated values (RFC 4180).
#pragma once

#include <string>

namespace heapprof::cli {

// Quoted if a comma or a quote would break the row. Spreadsheets take a text that begins with =, +, - or @ for a
// formula: it gets an apostrophe.
std::string csv_cell(const std::string& text);

}  // namespace heapprof::cli
