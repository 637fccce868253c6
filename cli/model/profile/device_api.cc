// cli/model/profile/device_api.cc: see device_api.h.
#include "cli/model/profile/device_api.h"

#include "cli/base/saturating.h"

#include <algorithm>
#include <tuple>

namespace heapprof::cli {
namespace {

void add(ApiCall* into, const ApiCall& from) {
  into->count = add_saturating(into->count, from.count);
  into->duration_ns = add_saturating(into->duration_ns, from.duration_ns);
  into->size_bytes = add_saturating(into->size_bytes, from.size_bytes);
}
void add(ApiThread* into, const ApiThread& from) {
  into->count = add_saturating(into->count, from.count);
  into->duration_ns = add_saturating(into->duration_ns, from.duration_ns);
}

auto key(const ApiCall& call) { return std::tie(call.call, call.node); }
auto key(const ApiThread& thread) { return std::tie(thread.call, thread.thread); }

template <typename Row>
void sum_equal(std::vector<Row>* rows) {
  std::stable_sort(rows->begin(), rows->end(), [](const Row& a, const Row& b) { return key(a) < key(b); });
  size_t kept = 0;
  for (size_t i = 0; i < rows->size(); ++i) {
    if (kept != 0 && key((*rows)[kept - 1]) == key((*rows)[i])) {
      add(&(*rows)[kept - 1], (*rows)[i]);
    } else {
      if (kept != i) (*rows)[kept] = std::move((*rows)[i]);
      ++kept;
    }
  }
  rows->resize(kept);
}

template <typename Row>
void sort_by_time(std::vector<Row>* rows) {
  std::stable_sort(rows->begin(), rows->end(),
                   [](const Row& a, const Row& b) { return a.duration_ns > b.duration_ns; });
}

// If more than kMostApiRows rows have a number (a stack or thread), sums the shortest of them into one row for each
// call, without a number. Rows that are already such sums do not count.
template <typename Row>
void sum_rest(std::vector<Row>* rows, uint32_t Row::*number) {
  size_t kept = 0;
  bool has_rest = false;
  for (Row& row : *rows) {
    if (row.*number == 0 || ++kept <= kMostApiRows) continue;
    row.*number = 0;
    has_rest = true;
  }
  if (!has_rest) return;
  sum_equal(rows);
  sort_by_time(rows);
}

}  // namespace

void merge_api(DeviceApi* api) {
  sum_equal(&api->calls);
  sort_by_time(&api->calls);
  sum_rest(&api->calls, &ApiCall::node);
  sum_equal(&api->threads);
  sort_by_time(&api->threads);
  sum_rest(&api->threads, &ApiThread::thread);
}

}  // namespace heapprof::cli
