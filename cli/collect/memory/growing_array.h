// cli/collect/memory/growing_array.h: an array of plain structs that grows without being copied.
//
// Guarantees
//  - New elements are zero bytes. Growing moves page tables, not data (mremap), so there is no pause and no second
//    copy.
//  - Untouched capacity costs no memory.
//  - Without memory growing throws std::bad_alloc and has changed nothing.
// Not provided: stable addresses. A reference is valid until the array grows.
#pragma once

#include "cli/collect/memory/mapped_memory.h"

#include <cstddef>
#include <type_traits>
#include <utility>

namespace heapprof::cli {

template <typename T>
class GrowingArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  GrowingArray() = default;
  GrowingArray(const GrowingArray&) = delete;
  GrowingArray& operator=(const GrowingArray&) = delete;
  ~GrowingArray() {
    if (items_ != nullptr) unmap(items_, bytes_);
  }

  size_t size() const { return size_; }
  T& operator[](size_t i) { return items_[i]; }
  const T& operator[](size_t i) const { return items_[i]; }
  const T* begin() const { return items_; }
  const T* end() const { return items_ + size_; }

  void push_back(const T& item) {
    const T copy = item;
    grow_to(size_ + 1);
    items_[size_ - 1] = copy;
  }

  // Makes room for that many more elements, which can then be added without allocating.
  void make_room(size_t count) {
    if ((size_ + count) * sizeof(T) > bytes_) [[unlikely]]
      reserve(size_ + count);
  }

  // Makes the array at least `size` long; new elements are zero.
  void grow_to(size_t size) {
    if (size <= size_) return;
    if (size * sizeof(T) > bytes_) [[unlikely]]
      reserve(size);
    size_ = size;
  }

 private:
  static constexpr size_t kFirstBytes = 64 << 10;

  void reserve(size_t size) {
    size_t bytes = bytes_ == 0 ? kFirstBytes : bytes_;
    while (bytes < size * sizeof(T)) bytes *= 2;
    void* memory = items_ == nullptr ? map_zeroed(bytes) : grow_mapping(items_, bytes_, bytes);
    items_ = static_cast<T*>(memory);
    bytes_ = bytes;
  }

  T* items_ = nullptr;
  size_t size_ = 0;
  size_t bytes_ = 0;
};

}  // namespace heapprof::cli
