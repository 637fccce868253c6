// agent/unwind.cc: see unwind.h. The fast path: cached rules, and the difference to the previous stack.
//
// A step is a chain of dependent loads (program counter → rule → return address slot → program counter), so its cost is latency:
// everything else in the loop is predictable branches beside it. Rules that are compact need no checks where the CFA comes from
// sp, as the rule itself says that it grows; bp may be anything in code that does not keep to the ABI, so it is checked.
#include "agent/unwind.h"

#include "agent/modules.h"
#include "agent/raw.h"
#include "agent/rule_cache.h"
#include "agent/unwind_context.h"
#include "shared/events.h"

#include <string.h>

#include <atomic>

namespace heapprof::agent {

namespace {

constexpr uint64_t kMaxFrameBytes = 256u << 20;  // a frame that claims to be larger is not believed

uint32_t g_starts = 0;  // calls of init_unwinder: tells contexts that survived a fork that their rules are void
uint32_t g_max_frames = kMaxFrames;

enum class WalkEnd : uint8_t { kEndOfStack, kSpecial, kNoUnwindInfo, kBadFrame, kFull };

inline uint64_t load_word(uint64_t avma) { return *reinterpret_cast<const uint64_t*>(avma); }

// True if a frame from sp to cfa can be.
inline bool is_plausible_frame(uint64_t sp, uint64_t cfa) { return cfa - sp - 8 < kMaxFrameBytes && (cfa & 7) == 0; }

inline const UnwindRule* find_rule(UnwindContext* context, uint64_t pc_avma) {
  const UnwindRule* rule = rule_slot(context, pc_avma);
  return HEAPPROF_LIKELY(rule->pc_avma == pc_avma) ? rule : find_rule_slow(context, pc_avma);
}

// Walks as far as compact rules go. On kSpecial and kNoUnwindInfo, *walk is the frame that has the rule.
WalkEnd walk_compact(UnwindContext* context, WalkState* walk, StackBuffer* buffer) {
  uint64_t pc_avma = walk->pc_avma;
  uint64_t sp = walk->sp;
  uint64_t bp = walk->bp;
  uint64_t* out = buffer->pcs + buffer->count;
  uint64_t* const out_end = buffer->pcs + buffer->limit;
  WalkEnd end = WalkEnd::kFull;
  while (out != out_end) {
    *out++ = pc_avma;
    const UnwindRule* rule = find_rule(context, pc_avma);
    uint64_t cfa;
    if (HEAPPROF_LIKELY(rule->kind == RuleKind::kCfaFromSp)) {
      cfa = sp + static_cast<uint64_t>(int64_t{rule->cfa_offset_bytes});
    } else if (rule->kind == RuleKind::kCfaFromBp) {
      cfa = bp + static_cast<uint64_t>(int64_t{rule->cfa_offset_bytes});
      if (HEAPPROF_UNLIKELY(!is_plausible_frame(sp, cfa))) {
        end = WalkEnd::kBadFrame;
        break;
      }
    } else if (rule->kind == RuleKind::kRealigned) {
      const uint64_t slot = bp + static_cast<uint64_t>(int64_t{rule->cfa_offset_bytes});
      cfa = 0;
      if (HEAPPROF_LIKELY(bp - sp < kMaxFrameBytes && slot - sp < kMaxFrameBytes && (bp & 7) == 0))
        cfa = load_word(slot);
      if (HEAPPROF_UNLIKELY(!is_plausible_frame(sp, cfa))) {
        end = WalkEnd::kBadFrame;
        break;
      }
      bp = load_word(bp);
    } else {
      end = rule->kind == RuleKind::kEndOfStack ? WalkEnd::kEndOfStack
            : rule->kind == RuleKind::kSpecial  ? WalkEnd::kSpecial
                                                : WalkEnd::kNoUnwindInfo;
      break;
    }
    if (rule->bp_offset_words != 0) bp = load_word(cfa + static_cast<uint64_t>(int64_t{rule->bp_offset_words} * 8));
    pc_avma = load_word(cfa - 8);
    sp = cfa;
  }
  if (end == WalkEnd::kEndOfStack && pc_avma == 0) --out;  // 0 ends a stack and is no frame
  buffer->count = static_cast<uint32_t>(out - buffer->pcs);
  *walk = {pc_avma, sp, bp};
  return end;
}

void walk_stack(UnwindContext* context, const StartFrame& start, StackBuffer* buffer) {
  WalkState walk{start.pc_avma, start.sp, start.bp};
  uint32_t jumps = 0;
  for (;;) {
    switch (walk_compact(context, &walk, buffer)) {
      case WalkEnd::kEndOfStack: return;
      case WalkEnd::kFull:
        // A stack of exactly `limit` frames is whole: nothing but the end follows.
        if (walk.pc_avma != 0) buffer->truncation = static_cast<uint32_t>(wire::TruncationCause::kDepth);
        return;
      case WalkEnd::kBadFrame: buffer->truncation = static_cast<uint32_t>(wire::TruncationCause::kBadFrame); return;
      case WalkEnd::kNoUnwindInfo:
        if (!step_by_frame_pointer(context, &walk, buffer)) return;
        break;
      case WalkEnd::kSpecial:
        switch (step_special(context, &walk, &jumps, buffer)) {
          case SlowStep::kGoOn: break;
          case SlowStep::kEnd: return;
          case SlowStep::kNeedsRegisters:
            buffer->count = 0;
            buffer->truncation = 0;
            walk_with_all_registers(context, start, buffer);
            return;
        }
        break;
    }
  }
}

// Equal frames of two stacks, counted from the outermost, which is the last of each.
uint32_t count_equal_outermost(const uint64_t* a, uint32_t a_count, const uint64_t* b, uint32_t b_count) {
  const uint32_t most = a_count < b_count ? a_count : b_count;
  const uint64_t* a_end = a + a_count;
  const uint64_t* b_end = b + b_count;
  uint32_t equal = 0;
  for (; equal + 4 <= most; equal += 4, a_end -= 4, b_end -= 4) {
    const uint64_t difference =
        (a_end[-1] ^ b_end[-1]) | (a_end[-2] ^ b_end[-2]) | (a_end[-3] ^ b_end[-3]) | (a_end[-4] ^ b_end[-4]);
    if (difference != 0) break;
  }
  while (equal < most && *--a_end == *--b_end) ++equal;
  return equal;
}

// Compares the new stack, in the buffer that the previous one is not in, with the previous one, and makes it that.
void finish_stack(UnwindContext* context, const StackBuffer& buffer, StackDelta* delta) {
  const uint64_t* previous = context->stacks[context->previous];
  const uint32_t keep = count_equal_outermost(buffer.pcs, buffer.count, previous, context->previous_count);
  *delta = {keep, buffer.count - keep, buffer.pcs, buffer.truncation};
  context->previous ^= 1;
  context->previous_count = buffer.count;
}

[[gnu::noinline]] void void_rules(UnwindContext* context, uint64_t key, uint32_t generation) {
  memset(context->rules, 0, sizeof context->rules);
  std::atomic_signal_fence(
      std::memory_order_release);  // a handler that jumps out leaves either all void or the old key
  context->rules_key = key;
  context->generation = generation;
}

inline void use_generation(UnwindContext* context, uint32_t generation) {
  const uint64_t key = static_cast<uint64_t>(g_starts) << 32 | generation;
  if (HEAPPROF_UNLIKELY(context->rules_key != key)) void_rules(context, key, generation);
}

}  // namespace

uint64_t unwind_context_bytes() { return (sizeof(UnwindContext) + 4095) & ~uint64_t{4095}; }

UnwindContext* make_unwind_context(void* memory) { return static_cast<UnwindContext*>(memory); }

void reset_stack(UnwindContext* context) { context->previous_count = 0; }

const uint64_t* current_stack(const UnwindContext* context, uint32_t* count) {
  *count = context->previous_count;
  return context->stacks[context->previous];
}

bool init_unwinder() {
  ++g_starts;
  init_modules();
  return init_rule_cache();
}

void set_max_frames(uint32_t max_frames) {
  g_max_frames = max_frames == 0 || max_frames > kMaxFrames ? kMaxFrames : max_frames;
}

void replace_stack(UnwindContext* context, const uint64_t* pcs, uint32_t count, uint32_t generation,
                   StackDelta* delta) {
  use_generation(context, generation);
  StackBuffer buffer{context->stacks[context->previous ^ 1], 0, g_max_frames, 0};
  // Too deep a stack loses its outermost frames, as in a walk.
  buffer.count = count < buffer.limit ? count : buffer.limit;
  if (count > buffer.limit) buffer.truncation = static_cast<uint32_t>(wire::TruncationCause::kDepth);
  memcpy(buffer.pcs, pcs, buffer.count * sizeof *pcs);
  finish_stack(context, buffer, delta);
  for (uint32_t i = 0; i < delta->fresh; ++i) find_rule(context, delta->fresh_pcs[i]);  // this announces their modules
}

void capture_stack(UnwindContext* context, const StartFrame& start, uint32_t generation, StackDelta* delta) {
  use_generation(context, generation);
  StackBuffer buffer{context->stacks[context->previous ^ 1], 0, g_max_frames, 0};
  walk_stack(context, start, &buffer);
  finish_stack(context, buffer, delta);
}

}  // namespace heapprof::agent
