// cli/collect/books/launch_book.cc: see launch_book.h.
#include "cli/collect/books/launch_book.h"

namespace heapprof::cli {

void LaunchBook::note(uint32_t path, wire::Record launch) {
  const LaunchRow row{path, launch};
  if (const auto at = rows_.find(row); at != rows_.end()) {
    ++at->second;
  } else if (rows_.size() < kMostRows) {
    rows_.emplace(row, 1);
  } else {
    ++others_[path];
  }
}

}  // namespace heapprof::cli
