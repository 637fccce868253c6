// shared/scopes.h: what a program reports about its own work: names, and the records of scopes and marks.
//
// A name is in the arena's table once; records hold its number. A scope has an id from its begin to its end. Another
// thread can enter the scope by this id.
//
// Trust:  as in events.h.
#pragma once

#include "shared/events.h"
#include "shared/wire.h"

namespace heapprof::wire {

// An entry of the table of names. A compare and swap takes a free one; from kReady on it does not change.
enum class NameState : uint32_t {
  kFree = 0,
  kWriting = 1,
  kReady = 2,
};

inline constexpr uint32_t kOtherName = 0xffff;  // number of a name that found no room

struct Name {
  std::atomic<NameState> state;  // pairs with (L)
  uint16_t category_bytes;
  uint16_t text_bytes;
  char characters[kNameBytes - 8];  // the category, then the text; longer ones are cut
};
static_assert(sizeof(Name) == kNameBytes);

// The operation of a kScope record. The record's id identifies a scope from its begin to its end, across threads.
enum class ScopeOperation : uint32_t {
  kBegin = 1,
  kEnd = 2,
  kLeave = 3,       // the thread continues outside the scope and outside the scopes that it began inside it
  kEnter = 4,       // the thread continues in a scope that was left, and in those that were left with it
  kItems = 5,       // w1: how much work the scope did, in the program's own measure; comes before the scope's end
  kMark = 6,        // no scope: this moment gets a name
  kBeginApart = 7,  // a named scope that no thread is in: it has a time, and owns no memory
  kEndOnly = 8,     // ends the scope, and no scope inside it; id 0: the program ended what it had not begun
  kNameBlock = 9,   // no scope: what is live at the address (in the kPrefixAddress before) gets this name
  kPause = 10,      // what this thread allocates from here on is left out …
  kResume = 11,     // … as long as there were more kPause than kResume
  kGpuBegin = 12,   // no scope: an interval of GPU time of this thread's innermost scope has begun
  kGpuTime = 13,    // w1: how long such an interval was, in nanoseconds; in any ring, before its begin is read or after
  kTensor = 14,  // no scope: the memory at the address (kPrefixAddress) is a tensor's; id: its TensorRole; a name or 0
  kSnapshot = 15,  // no scope: a named snapshot; id: 1: with the tensors that the thread has reported
};

// What a tensor is for, as the program's Python objects show.
enum class TensorRole : uint32_t {
  kWeight = 1,
  kGradient = 2,
  kOptimizer = 3,
  kActivation = 4,
  kInput = 5,  // or any other data that Python holds
};
inline constexpr uint32_t kTensorRoles = 5;
constexpr bool is_tensor_role(uint64_t role) { return role - 1 < kTensorRoles; }

inline constexpr uint64_t kScopeIdBits = 40;
inline constexpr uint64_t kScopeCountBits = 28;  // an id's low bits count a ring's scopes; its high bits are the ring
// name: its slot in the table of names + 1; 0 if the operation has none
constexpr uint64_t pack_scope(ScopeOperation operation, uint32_t name, uint64_t id) {
  return static_cast<uint64_t>(RecordType::kScope) << 60 | static_cast<uint64_t>(operation) << 56 |
         static_cast<uint64_t>(name & 0xffff) << kScopeIdBits | id;
}
// The value of a kPrefixSize before a kBegin, which says that the scope is an operator of PyTorch. The sequence number
// of a forward operator is that of the function that it creates for the backward pass; a function of the backward pass
// has its own number. Numbers grow, and start again after kSequences of them.
inline constexpr uint32_t kOperator = 1, kOperatorBackward = 2, kOperatorSequenceAt = 2;
inline constexpr int64_t kSequences = (1 << 30) - 1;
// sequence: below 0 if the operator has no number
constexpr uint32_t pack_operator(bool is_backward, int64_t sequence) {
  const auto counted = static_cast<uint32_t>(sequence < 0 ? 0 : sequence % kSequences + 1);
  return kOperator | (is_backward ? kOperatorBackward : 0) | counted << kOperatorSequenceAt;
}
constexpr bool is_backward_operator(uint32_t word) { return (word & kOperatorBackward) != 0; }
// Counts from 1; 0: the operator has no number.
constexpr uint32_t operator_sequence(uint32_t word) { return word >> kOperatorSequenceAt; }

constexpr ScopeOperation scope_operation(uint64_t w0) { return static_cast<ScopeOperation>(w0 >> 56 & 0xf); }
constexpr uint32_t scope_name(uint64_t w0) { return static_cast<uint32_t>(w0 >> kScopeIdBits & 0xffff); }
constexpr uint64_t scope_id(uint64_t w0) { return w0 & ((1ull << kScopeIdBits) - 1); }

}  // namespace heapprof::wire
