// cli/collect/books/launch_book.h: which kernels and graphs were launched in which scope, and how often.
//
// Guarantees
//  - Each launch is counted once, in its row or, if there is no room for one, in others().
//  - Memory is bounded: kMostRows rows of a scope's path, a kernel and a shape; further ones are counted by path alone.
// Context:  one thread.
// Trust:    every number is the target's.
// Cost:     about 20 ns a launch.
#pragma once

#include "shared/kernels.h"

#include <cstddef>
#include <cstdint>
#include <unordered_map>

namespace heapprof::cli {

struct LaunchRow {
  uint32_t path;        // ScopeBook's; 0: outside all scopes
  wire::Record launch;  // wire::pack_launch

  bool operator==(const LaunchRow& other) const {
    return path == other.path && launch.w0 == other.launch.w0 && launch.w1 == other.launch.w1;
  }
};
struct HashOfLaunchRow {
  size_t operator()(const LaunchRow& row) const {
    uint64_t hash = (row.path ^ row.launch.w0 * 0x9E3779B97F4A7C15ull) * 0xff51afd7ed558ccdull;
    hash = (hash ^ hash >> 32 ^ row.launch.w1) * 0x9E3779B97F4A7C15ull;
    return hash ^ hash >> 29;
  }
};

class LaunchBook {
 public:
  static constexpr size_t kMostRows = 1u << 16;

  void note(uint32_t path, wire::Record launch);

  const std::unordered_map<LaunchRow, uint64_t, HashOfLaunchRow>& rows() const { return rows_; }
  // By path: launches without a row.
  const std::unordered_map<uint32_t, uint64_t>& others() const { return others_; }
  // About how much memory it takes.
  uint64_t bytes() const { return (rows_.size() + others_.size()) * kRowBytes; }

 private:
  static constexpr uint64_t kRowBytes = 64;

  std::unordered_map<LaunchRow, uint64_t, HashOfLaunchRow> rows_;
  std::unordered_map<uint32_t, uint64_t> others_;
};

}  // namespace heapprof::cli
