// cli/base/large_memory.h: vectors of many megabytes that are filled once.
//
// Their fresh pages cost more than what is written into them: a page fault of 4 KiB takes 1 to 5 µs in a virtual
// machine, so that 130 MB of sites took 30 ms and more before a number was in them. Huge pages are a 512th as many.
#pragma once

#include <cstddef>
#include <vector>

namespace heapprof::cli {

// Asks for huge pages where the memory is large enough; nothing happens where the kernel has none.
void advise_large(void* memory, size_t bytes);

template <typename T>
void reserve_large(std::vector<T>* items, size_t count) {
  items->reserve(count);
  advise_large(items->data(), count * sizeof(T));
}

// A vector of equal items.
template <typename T>
std::vector<T> make_large(size_t count, const T& item) {
  std::vector<T> items;
  reserve_large(&items, count);
  items.assign(count, item);
  return items;
}

}  // namespace heapprof::cli
