// agent/unwind/rule_cache.cc: one table for all threads, read and written without a lock.
//
// A slot is two 8-byte words: the program counter, and the rule packed together with the generation at which it
// was stored. A 16-byte load would read both at once, but is atomic only on processors with AVX (on others only as a
// locked write). So a slot is written under a protocol that needs only 8-byte atomics:
//   writer: pc := kBusy (compare-and-swap: only one writer wins); rule := new (release); pc := new (release)
//   reader: loads rule, then pc (acquire), then rule again. The rule is valid if both loads of it are equal, pc is the
//   reader's, and the rule's generation is the reader's or nothing invalidated the rule since.
// Why a reader never pairs one pc with another's rule: a slot is rewritten only at a later generation than the one that
// it holds. So the rule word has at most one value for each generation, and a reader that loaded the same value twice
// knows that the word did not change in between. The pc that it loaded in between is then either kBusy or the pc that
// was stored after this rule: if it were a later pc, the second load of the rule, which is ordered after it, would have
// returned a later rule. The generation shares a word with the rule, which leaves it 28 bits: it wraps around after 268
// million unloads.
#include "agent/unwind/rule_cache.h"

#include "agent/libc/raw.h"
#include "agent/process/generation.h"

#include <sys/mman.h>

#include <atomic>

namespace heapprof::agent {

namespace {

constexpr uint32_t kWays = 4;  // a set has this many slots, all in one cache line; a rule may be in any of them
constexpr uint32_t kSetBits = 15;
constexpr uint64_t kSets = uint64_t{1} << kSetBits;
constexpr uint64_t kBusy = ~uint64_t{0};

struct Slot {
  std::atomic<uint64_t> pc_avma;
  std::atomic<uint64_t> packed;  // 0: never used
};
struct alignas(64) Set {
  Slot slots[kWays];
};
static_assert(sizeof(Set) == 64 && kSets * kWays == 131072);

constexpr uint64_t kCacheBytes = kSets * sizeof(Set);

Set* g_sets = nullptr;

// packed = generation:28 | kind:4 | saved:kSavedBits | cfa_offset in words:32 - kSavedBits
constexpr uint32_t kCfaBits = 32 - kSavedBits;
constexpr uint32_t kCfaMask = (1u << kCfaBits) - 1;
constexpr uint32_t kGenerationShift = 36;
constexpr uint32_t kGenerationCount = (1u << 28) - 1;

// A tag is never 0, so that an unused slot has no generation.
uint32_t generation_tag(uint32_t generation) { return generation % kGenerationCount + 1; }
uint32_t tag_of(uint64_t packed) { return static_cast<uint32_t>(packed >> kGenerationShift); }

// True if tag `a` is older than tag `b`. Tags wrap around: half of their range counts as the past.
bool is_older(uint32_t a, uint32_t b) { return a == 0 || static_cast<int32_t>((a - b) << 4) < 0; }

uint64_t pack(const UnwindRule& rule, uint32_t tag) {
  const auto cfa_words = static_cast<uint32_t>(rule.cfa_offset_bytes / 8) & kCfaMask;
  const auto saved = static_cast<uint32_t>(rule.saved) << kCfaBits;
  return static_cast<uint64_t>(tag) << kGenerationShift | static_cast<uint64_t>(rule.kind) << 32 | saved | cfa_words;
}

UnwindRule unpack(uint64_t pc_avma, uint64_t packed) {
  const auto low = static_cast<uint32_t>(packed);
  UnwindRule rule{};
  rule.pc_avma = pc_avma;
  rule.cfa_offset_bytes = static_cast<int32_t>(low << kSavedBits) / (1 << kSavedBits) * 8;
  rule.saved = static_cast<int16_t>(static_cast<int32_t>(low) >> kCfaBits);
  rule.kind = static_cast<RuleKind>(packed >> 32 & 0xf);
  return rule;
}
static_assert(kMaxCfaOffsetBytes / 8 < 1 << (kCfaBits - 1) && kSavedBits <= 16);

// A rule may be in either of two sets, so that a crowded set does not overflow.
Set& set_of(uint64_t pc_avma, uint32_t choice) {
  const uint64_t hash = pc_avma * 0xd6e8feb86659fd93;
  return g_sets[choice == 0 ? hash >> (64 - kSetBits) : hash >> (64 - 2 * kSetBits) & (kSets - 1)];
}

// True if a rule with this generation tag is still valid: nothing about its address was invalidated since it was
// stored.
bool holds_still(uint32_t stored_tag, uint64_t pc_avma, uint32_t generation) {
  if (stored_tag == 0) return false;
  const uint32_t generations_ago = (generation_tag(generation) + kGenerationCount - stored_tag) % kGenerationCount;
  bool holds = true;
  return generations_ago <= kKeptEndings &&
         for_each_ending(generation - generations_ago, generation,
                         [&](const Ending& ending) { holds &= !ending.holds_return(pc_avma); }) &&
         holds;
}

// True if the slot holds the rule now, whether this call or an earlier one stored it.
bool store(Slot& slot, const UnwindRule& rule, uint32_t tag) {
  uint64_t old_pc_avma = slot.pc_avma.load(std::memory_order_acquire);
  const uint32_t old_tag = tag_of(slot.packed.load(std::memory_order_relaxed));
  if (old_pc_avma == kBusy) return false;
  if (!is_older(old_tag, tag)) return old_tag == tag && old_pc_avma == rule.pc_avma;
  if (!slot.pc_avma.compare_exchange_strong(old_pc_avma, kBusy, std::memory_order_acq_rel, std::memory_order_relaxed)) {
    return false;
  }
  // This writer owns the slot now. Another writer may have stored a rule between the load and the exchange, and left
  // the same pc.
  if (!is_older(tag_of(slot.packed.load(std::memory_order_relaxed)), tag)) {
    slot.pc_avma.store(old_pc_avma, std::memory_order_release);
    return false;
  }
  slot.packed.store(pack(rule, tag), std::memory_order_release);  // pairs with the reader's first load
  slot.pc_avma.store(rule.pc_avma, std::memory_order_release);    // pairs with the reader's second load
  return true;
}

}  // namespace

bool init_rule_cache() {
  if (g_sets == nullptr) g_sets = static_cast<Set*>(map_private(kCacheBytes));
  return g_sets != nullptr;
}

bool find_shared_rule(uint64_t pc_avma, uint32_t generation, UnwindRule* rule) {
  if (g_sets == nullptr || pc_avma == kBusy) return false;
  for (uint32_t choice = 0; choice < 2; ++choice) {
    for (Slot& slot : set_of(pc_avma, choice).slots) {
      const uint64_t packed = slot.packed.load(std::memory_order_acquire);
      if (slot.pc_avma.load(std::memory_order_acquire) != pc_avma) continue;
      if (slot.packed.load(std::memory_order_relaxed) != packed) continue;
      if (tag_of(packed) != generation_tag(generation) && !holds_still(tag_of(packed), pc_avma, generation)) continue;
      *rule = unpack(pc_avma, packed);
      return true;
    }
  }
  return false;
}

void share_rule(const UnwindRule& rule, uint32_t generation) {
  if (g_sets == nullptr || rule.pc_avma == kBusy) return;
  const uint32_t tag = generation_tag(generation);
  for (uint32_t choice = 0; choice < 2; ++choice) {
    for (Slot& slot : set_of(rule.pc_avma, choice).slots) {
      if (store(slot, rule, tag)) return;
    }
  }
}

}  // namespace heapprof::agent
