// shared/sampling.h: how blocks are chosen when not all of them are recorded, and how both sides know which are
// recorded.
//
// A block of S bytes is chosen with probability 1 − e^(−S/R), R being the interval: a point falls on each byte that a
// thread allocates with the rate 1/R, independently (a Poisson process), and a block is chosen if a point falls on it.
// The agent counts down to the next point, and draws a new distance after each point: a Poisson process is memoryless.
// A block of 0 bytes is never chosen; it is only counted.
//
// The end of a block matters only if its begin was recorded. So the agent keeps the addresses of the chosen blocks that
// are live, in two tables. Counters of a byte, indexed by address modulo 16 MiB, rule out nearly all other ends;
// buckets hold the addresses themselves. If a bucket has no room, all ends that may be of a chosen block are recorded,
// and the collector decides which of them count.
//
// Trust:  only the agent writes these tables. If a program corrupts them, it corrupts only its own profile.
// Cost:   drawing a distance 50-100 ns, without floating point.
#pragma once

#include <atomic>
#include <cstdint>

namespace heapprof::wire {

// Which of the blocks that begin, and which of those that end, are recorded.
enum class Begins : uint32_t { kAll = 0, kSampled = 1, kNone = 2 };
enum class Ends : uint32_t {
  kAll = 0,
  kMarked = 1,  // every block that was ever recorded had a mark
  kNone = 2,    // no block was ever recorded
};
// Both in one word; 0 means that everything is recorded.
constexpr uint32_t pack_recording(Begins begins, Ends ends) {
  return static_cast<uint32_t>(begins) | static_cast<uint32_t>(ends) << 2;
}
constexpr Begins begins_of(uint32_t recording) { return static_cast<Begins>(recording & 3); }
constexpr Ends ends_of(uint32_t recording) { return static_cast<Ends>(recording >> 2 & 3); }

inline constexpr uint64_t kLeastInterval = 256;  // bytes; below it, recording everything is cheaper
inline constexpr uint64_t kMostInterval = uint64_t{1} << 34;
inline constexpr uint64_t kMarkBytes = 1u << 20;
inline constexpr uint64_t kBuckets = 1u << 14;

// Addresses of live chosen blocks; one cache line.
struct alignas(64) ChosenBucket {
  std::atomic<uint64_t> addresses[7];  // 0: free
  std::atomic<uint64_t> without_room;  // blocks that found no slot here, ever
};
static_assert(sizeof(ChosenBucket) == 64);

// A part of the arena that the agent maps at a fixed place, where a hook reads it without loading a pointer.
struct SamplingPage {
  std::atomic<uint32_t> recording;       // collector, any time: pack_recording
  std::atomic<uint32_t> orders_stamps;   // collector, before `recording`: 1: no stamp is older than what its thread saw
  std::atomic<uint64_t> interval_bytes;  // collector, any time: R; 0 if no block was ever sampled
  uint64_t seed;                         // collector, before the agent maps it: seed of the random numbers
  unsigned char unused[4096 - 24];
  std::atomic<uint8_t> marks[kMarkBytes];
  ChosenBucket buckets[kBuckets];
};
static_assert(sizeof(SamplingPage) == 4096 + kMarkBytes + kBuckets * sizeof(ChosenBucket));

constexpr uint64_t mark_index(uint64_t address) { return (address >> 4 ^ address >> 24) % kMarkBytes; }
constexpr uint64_t bucket_index(uint64_t address) { return address * 0x9e3779b97f4a7c15 >> 50; }
static_assert(kBuckets == 1u << (64 - 50));
inline constexpr uint8_t kFullMark = 255;  // such a mark never changes again: its count is not known

inline void add_mark(std::atomic<uint8_t>& mark) {
  uint8_t count = mark.load(std::memory_order_relaxed);
  while (count != kFullMark &&
         !mark.compare_exchange_weak(count, static_cast<uint8_t>(count + 1), std::memory_order_relaxed)) {
  }
}
inline void take_mark(std::atomic<uint8_t>& mark) {
  uint8_t count = mark.load(std::memory_order_relaxed);
  while (count != kFullMark && count != 0 &&
         !mark.compare_exchange_weak(count, static_cast<uint8_t>(count - 1), std::memory_order_relaxed)) {
  }
}

// A block at that address was chosen; this thread has recorded its begin, or will.
inline void add_chosen(SamplingPage* page, uint64_t address) {
  ChosenBucket& bucket = page->buckets[bucket_index(address)];
  for (std::atomic<uint64_t>& slot : bucket.addresses) {
    if (slot.load(std::memory_order_relaxed) == address) return;  // an earlier block's end was not seen
  }
  bool has_room = false;
  for (std::atomic<uint64_t>& slot : bucket.addresses) {
    uint64_t free = 0;
    has_room = slot.compare_exchange_strong(free, address, std::memory_order_relaxed);
    if (has_room) break;
  }
  if (!has_room) bucket.without_room.fetch_add(1, std::memory_order_relaxed);
  add_mark(page->marks[mark_index(address)]);
}
// Whether the block that ends at that address may be a chosen one. pre: the address has a mark
inline bool take_chosen(SamplingPage* page, uint64_t address) {
  ChosenBucket& bucket = page->buckets[bucket_index(address)];
  for (std::atomic<uint64_t>& slot : bucket.addresses) {
    uint64_t found = slot.load(std::memory_order_relaxed);
    if (found != address || !slot.compare_exchange_strong(found, 0, std::memory_order_relaxed)) continue;
    take_mark(page->marks[mark_index(address)]);
    return true;
  }
  return bucket.without_room.load(std::memory_order_relaxed) != 0;
}

// The countdown of a ring's owners, in the ring's header. Bytes counted: granted − until. A new distance replaces both
// by one instruction, so a process that is killed leaves a true sum.
struct alignas(16) Countdown {
  std::atomic<int64_t> until;         // bytes to the next point; below 0 while it is being passed
  std::atomic<uint64_t> granted;      // bytes counted when `until` was last set, plus the value that it got
  std::atomic<uint64_t> allocations;  // blocks that were counted
  uint64_t reserved;
};
static_assert(sizeof(Countdown) == 32);

__extension__ using Wide = unsigned __int128;

// Pseudorandom numbers (splitmix64, Steele, Lea and Flood, OOPSLA 2014).
constexpr uint64_t mix_bits(uint64_t value) {
  value += 0x9e3779b97f4a7c15;
  value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9;
  value = (value ^ value >> 27) * 0x94d049bb133111eb;
  return value ^ value >> 31;
}

// −log2 of (random + 1) / 2^64, in units of 2^−32. Each squaring of the value gives one binary digit of the result.
constexpr uint64_t minus_log2(uint64_t random) {
  if (random == UINT64_MAX) return 0;
  uint64_t value = random + 1;
  const auto leading = static_cast<uint32_t>(__builtin_clzll(value));
  value <<= leading;  // 1.63 bits, in [1, 2)
  uint64_t fraction = 0;
  for (int digit = 0; digit < 32; ++digit) {
    const auto square = static_cast<Wide>(value) * value;
    const bool is_two = (square >> 127) != 0;
    fraction = fraction << 1 | static_cast<uint64_t>(is_two);
    value = static_cast<uint64_t>(square >> (is_two ? 64 : 63));
  }
  return ((uint64_t{leading} + 1) << 32) - fraction;
}

// Bytes to the next point, whole: floor(−ln(u) × R) for u uniform in (0, 1], so that a block of S bytes is passed by it
// with probability e^(−S/R) for every whole S. pre: interval_bytes <= kMostInterval
constexpr int64_t draw_distance(uint64_t random, uint64_t interval_bytes) {
  constexpr uint64_t kLn2 = 2977044472;  // × 2^−32
  return static_cast<int64_t>(static_cast<Wide>(minus_log2(random)) * kLn2 * interval_bytes >> 64);
}

}  // namespace heapprof::wire
