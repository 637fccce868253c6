// cli/collect/books/gpu_time_book.cc: see gpu_time_book.h.
#include "cli/collect/books/gpu_time_book.h"

namespace heapprof::cli {

void GpuTimeBook::count(uint32_t path, uint64_t time_ns) {
  Time& time = times_[path];
  time.time_ns += time_ns;
  ++time.intervals;
}

void GpuTimeBook::begin(uint32_t path, uint64_t id) {
  if (const auto early = early_.find(id); early != early_.end()) {
    count(path, early->second);
    early_.erase(early);
  } else if (has_room()) {
    begun_[id] = path;
  } else {
    ++lost_;
  }
}

void GpuTimeBook::add(uint64_t id, uint64_t time_ns) {
  if (const auto begun = begun_.find(id); begun != begun_.end()) {
    count(begun->second, time_ns);
    begun_.erase(begun);
  } else if (has_room()) {
    early_[id] = time_ns;
  } else {
    ++lost_;
  }
}

}  // namespace heapprof::cli
