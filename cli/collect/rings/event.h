// cli/collect/rings/event.h: what the decoder passes to the ledger: one event of one ring, its stack already a site.
#pragma once

#include <cstdint>

namespace heapprof::cli {

enum class EventKind : uint32_t {
  kMalloc,
  kFree,
  kReallocBegin,   // the block is unlinked, nothing is deducted
  kReallocEnd,     // the begun block ends, a new one begins
  kReallocCancel,  // the begun block lives on
  kReallocFree,    // the begun block ends
  kThreadLeft,     // `thread` will write no more into this ring
  kDevice,         // an operation on a device's memory; `address` is its number in DeviceEventTable
  kScope,          // an event of a scope, or a mark; `address` is the record's first word (wire::pack_scope),
                   // `size_bytes` the time in ticks, 0 if it is not known; for kItems, the number of items
  kName,           // the memory at the address gets the name number `size_bytes`; or, if `site` is not 0, is a tensor
  kLaunch,         // a kernel or a graph was launched: `address` and `size_bytes` are the record's two words
                   // (wire::pack_launch)
  kObjectBegin,    // a Python object (wire::DeviceOperation::kBeginInner); they are too many for that table
  kObjectEnd,
  kLaunches,  // `size_bytes` kernels were launched by the thread since its scopes changed last
};

struct Event {
  uint64_t stamp;       // never smaller than that of the previous event of the same ring
  uint64_t address;     // 0 for kReallocCancel, kReallocFree, kThreadLeft
  uint64_t size_bytes;  // of the new block; for a heap block pack_size() adds the rate by which it was sampled
  uint32_t site;        // of the new block; of a kScope that begins an operator, wire::pack_operator; of a
                        // kName of a tensor, its wire::TensorRole; 0 otherwise
  uint32_t thread_and_kind;

  constexpr EventKind kind() const { return static_cast<EventKind>(thread_and_kind & 0xf); }
  uint32_t thread() const { return thread_and_kind >> 4; }  // slot in the thread table
};
static_assert(sizeof(Event) == 32);

// A size and, in its highest byte, the number of a rate (rings/sample_rates.h). With rate 0 it is the plain size.
inline constexpr uint32_t kSizeWordBits = 56;
constexpr uint64_t pack_size(uint64_t size_bytes, uint32_t rate) {
  return size_bytes | static_cast<uint64_t>(rate) << kSizeWordBits;
}
constexpr uint64_t size_of(uint64_t size_word) { return size_word & ((uint64_t{1} << kSizeWordBits) - 1); }
constexpr uint32_t rate_of(uint64_t size_word) { return static_cast<uint32_t>(size_word >> kSizeWordBits); }

constexpr bool is_of_object(const Event& event) {
  return event.kind() == EventKind::kObjectBegin || event.kind() == EventKind::kObjectEnd;
}

inline constexpr uint32_t kMaxThreadSlots = 1u << 28;

constexpr uint32_t pack_thread(uint32_t thread, EventKind kind) { return thread << 4 | static_cast<uint32_t>(kind); }

}  // namespace heapprof::cli
