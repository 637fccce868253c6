// cli/collect/books/gpu_time_book.h: how long kernels took on the device, by the scope that launched them.
//
// An interval's begin and its time come in any order: they may be in two rings, without stamps.
//
// Guarantees
//  - Each interval counts once, for the scope that its thread was in at its begin.
//  - Memory is bounded: kMostOpen halves of intervals; further ones count as unread.
// Context:  one thread.
// Trust:    every number is the target's; sums are modulo 2^64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace heapprof::cli {

class GpuTimeBook {
 public:
  static constexpr size_t kMostOpen = 1u << 16;

  struct Time {
    uint64_t time_ns;
    uint64_t intervals;
  };

  // path: ScopeBook's; 0: outside all scopes
  void begin(uint32_t path, uint64_t id);
  void add(uint64_t id, uint64_t time_ns);

  const std::unordered_map<uint32_t, Time>& times() const { return times_; }  // by path
  // Intervals of which only one half has arrived.
  uint64_t unread() const { return begun_.size() + early_.size() + lost_; }
  uint64_t bytes() const { return (times_.size() + begun_.size() + early_.size()) * 48; }

 private:
  void count(uint32_t path, uint64_t time_ns);
  bool has_room() const { return begun_.size() + early_.size() < kMostOpen; }

  std::unordered_map<uint32_t, Time> times_;
  std::unordered_map<uint64_t, uint32_t> begun_;  // path by id
  std::unordered_map<uint64_t, uint64_t> early_;  // time by id
  uint64_t lost_ = 0;
};

}  // namespace heapprof::cli
