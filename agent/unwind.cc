// agent/unwind.cc: see unwind.h. The fast path: only what changed since the previous stack is walked.
//
// A step from a frame to its caller is a pure function of the frame's state (pc, sp, and bp where rules use it), of the rule for
// pc, and of the cells of memory that the rule reads. So if a walk comes to a state that the previous walk of this context came
// to as well, and every cell that the previous walk read from there on still holds what it held, then it would find the very
// frames that the previous one found. What happened in between does not matter, nor who wrote the cells. The cells are
//   the return address of each step: the word below the caller's sp, which must hold the caller's pc;
//   the saved bp, and a CFA kept in memory, of the steps where bp decides an outer frame (FrameFlags; rare without frame pointers);
//   the return address 0 that ended the stack.
// Cells are compared from the inside outwards up to the first difference, so only memory is read that a walk would read, too.
//
// Where a cell differs and bp plays no part, the frames inside of it are taken over from the previous stack and the walk goes on
// behind them: their steps were just verified.
//
// A stack that needed more than compact rules (signal frames, frames without description) is never verified, but walked whole.
#include "agent/unwind.h"

#include "agent/modules.h"
#include "agent/raw.h"
#include "agent/rule_cache.h"
#include "agent/unwind_context.h"
#include "agent/unwind_fast.h"
#include "agent/unwind_step.h"
#include "shared/events.h"

#include <string.h>

#include <atomic>

namespace heapprof::agent {

namespace {

uint32_t g_starts = 0;  // calls of init_unwinder: tells contexts that survived a fork that their rules are void
uint32_t g_max_frames = kMaxFrames;

}  // namespace

[[gnu::noinline]] uint32_t find_broken_flagged(const UnwindContext* context, uint32_t count) {
  for (uint32_t i = count; i != 0; --i) {  // the step from frame i to frame i - 1
    const Frame& caller = context->frames[i - 1];
    const uint8_t flags = context->flags[i];
    if (flags != 0) {
      const FrameBp& frame = context->bps[i];
      if ((flags & kCfaCell) != 0 && *frame.cfa_cell != caller.sp) return i;
      if ((flags & kBpCell) != 0 && *frame.bp_cell != context->bps[i - 1].bp) return i;
    }
    if (!is_intact(caller)) return i;
  }
  return 0;
}

namespace {

// ---- The walk of what is new ----

enum class WalkEnd : uint8_t {
  kMet,        // the previous stack: its frames [0, base) are the rest
  kEnded,      // base is 0
  kNeedsBp,    // a rule needs bp behind frames that were taken over: once more, without that
  kNeedsWhole  // more than compact rules
};

struct Walk {
  WalkState state;
  uint32_t base = 0;     // frames of the previous stack that stay
  uint32_t count = 0;    // new frames, at the end of context->frames, and in context->walked
  bool uses_bp = false;  // one of their rules does
  bool has_copied = false;
  const uint64_t* end_cell = &kNoCell;
};

inline Frame* new_frames(UnwindContext* context, uint32_t count) { return context->frames + (kMaxFrames - count); }
inline WalkedFrame* walked_frames(UnwindContext* context, uint32_t count) {
  return context->walked + (kMaxFrames - count);
}

// The walk has met frame met - 1, whose cells hold up to the frame broken - 1, which another caller has taken the place of.
void take_over(UnwindContext* context, uint32_t met, uint32_t broken, Walk* walk) {
  for (uint32_t i = met; i-- != broken;) {
    ++walk->count;
    *new_frames(context, walk->count) = context->frames[i];
    walked_frames(context, walk->count)->is_copied = true;
  }
  walk->state.sp = context->frames[broken - 1].sp;
  walk->state.pc_avma = load_word(walk->state.sp - 8);
  walk->has_copied = true;
}

WalkEnd walk_new(UnwindContext* context, bool may_copy, Walk* walk) {
  WalkState state = walk->state;
  uint32_t candidates = context->is_linked ? context->count : 0;
  bool is_bp_known = true;
  for (;;) {
    while (candidates != 0 && context->frames[candidates - 1].sp < state.sp) --candidates;
    if (candidates != 0 && is_at(context, candidates - 1, state)) {
      if (!is_bp_known && (context->flags[candidates - 1] & kNeedsBp) != 0) return WalkEnd::kNeedsBp;
      const uint32_t broken = find_broken_any(context, candidates - 1);
      if (HEAPPROF_LIKELY(broken == 0)) {
        if (HEAPPROF_LIKELY(has_same_end(context))) {
          walk->base = candidates;
          walk->end_cell = context->end_cell;
          return WalkEnd::kMet;
        }
        candidates = 0;
      } else if (may_copy && context->flagged == 0) {
        walk->state = state;
        take_over(context, candidates, broken, walk);
        state = walk->state;
        is_bp_known = false;
        candidates = broken - 1;
        if (state.pc_avma == 0) {
          walk->end_cell = cell_at(state.sp - 8);
          return WalkEnd::kEnded;
        }
        continue;
      } else {
        candidates = broken - 1;
      }
    }
    if (HEAPPROF_UNLIKELY(walk->count + candidates >= kMaxFrames)) return WalkEnd::kNeedsWhole;
    const UnwindRule* rule = find_rule(context, state.pc_avma);
    const uint32_t count = ++walk->count;
    *new_frames(context, count) = {state.pc_avma, state.sp};
    *walked_frames(context, count) = {state.bp, rule->cfa_offset_bytes, rule->bp_offset_words, rule->kind, false};
    if (HEAPPROF_UNLIKELY(rule->kind != RuleKind::kCfaFromSp)) {
      if (rule->kind == RuleKind::kEndOfStack) return WalkEnd::kEnded;
      if (!is_bp_known) return WalkEnd::kNeedsBp;
      walk->uses_bp = true;
    }
    if (rule->bp_offset_words != 0) is_bp_known = true;
    if (HEAPPROF_UNLIKELY(step(rule, &state) != StepResult::kStepped)) return WalkEnd::kNeedsWhole;
    if (HEAPPROF_UNLIKELY(state.pc_avma == 0)) {
      walk->end_cell = cell_at(state.sp - 8);
      return WalkEnd::kEnded;
    }
  }
}

// ---- The new stack ----

// Flags of the frames [base, count), from the outermost on. False: it cannot be verified.
bool set_flags(UnwindContext* context, uint32_t base, uint32_t count, const WalkedFrame* walked) {
  bool is_bp_needed = base != 0 && (context->flags[base - 1] & kNeedsBp) != 0;
  for (uint32_t i = base; i < count; ++i, ++walked) {
    FrameBp& frame = context->bps[i];
    uint8_t flags = 0;
    const uint64_t cfa = i != 0 ? context->frames[i - 1].sp : 0;
    if (walked->kind == RuleKind::kRealigned) {
      if (i == 0) return false;
      flags = kNeedsBp | kCfaCell;
      frame.cfa_cell = cell_at(walked->bp + static_cast<uint64_t>(int64_t{walked->cfa_offset_bytes}));
      if (is_bp_needed) {
        flags |= kBpCell;
        frame.bp_cell = cell_at(walked->bp);
      }
    } else {
      if (walked->bp_offset_words != 0 && is_bp_needed) {
        flags = kBpCell;
        frame.bp_cell = cell_at(cfa + static_cast<uint64_t>(int64_t{walked->bp_offset_words} * 8));
      }
      const bool passes_bp_on = walked->kind == RuleKind::kCfaFromSp && walked->bp_offset_words == 0;
      if (walked->kind == RuleKind::kCfaFromBp || (passes_bp_on && is_bp_needed)) flags |= kNeedsBp;
    }
    is_bp_needed = (flags & kNeedsBp) != 0;
    frame.bp = walked->bp;
    context->flags[i] = flags;
    if (flags != 0) ++context->flagged;
  }
  return true;
}

void clear_flags(UnwindContext* context, uint32_t base) {
  if (HEAPPROF_LIKELY(context->flagged == 0)) return;
  for (uint32_t i = base; i < context->count; ++i) {
    if (context->flags[i] != 0) --context->flagged;
    context->flags[i] = 0;
  }
}

// Forgets the previous stack from frame `base` on, and puts the walk's frames there.
void replace_frames(UnwindContext* context, const Walk& walk, StackDelta* delta) {
  const uint32_t base = walk.base;
  const uint32_t count = base + walk.count;
  const Frame* fresh = new_frames(context, walk.count);
  clear_flags(context, base);
  // Frames whose calls are the same although something else in them is not.
  uint32_t keep = base;
  const uint32_t most = context->count < kMaxFrames - walk.count ? context->count : kMaxFrames - walk.count;
  while (keep < most && keep < count && context->frames[keep].pc_avma == fresh[keep - base].pc_avma) ++keep;
  Frame* to = context->frames + base;
  for (const Frame* const end = fresh + walk.count; fresh != end; ++fresh, ++to) *to = *fresh;  // few; they may overlap
  context->count = count;
  context->end_cell = walk.end_cell;
  context->is_linked = true;
  const bool is_bp_needed = context->flagged != 0 && base != 0 && (context->flags[base - 1] & kNeedsBp) != 0;
  if (HEAPPROF_UNLIKELY(walk.uses_bp || is_bp_needed)) {
    context->is_linked = set_flags(context, base, count, walked_frames(context, walk.count));
    if (!context->is_linked) clear_flags(context, 0);
  }
  context->plain_count = context->is_linked && context->flagged == 0 ? count : 0;
  *delta = {keep, count - keep, context->frames + keep, 0};
}

// A stack without links: its program counters, innermost first, in the buffer.
void replace_pcs(UnwindContext* context, const StackBuffer& buffer, StackDelta* delta) {
  const uint32_t most = context->count < buffer.count ? context->count : buffer.count;
  uint32_t keep = 0;
  while (keep < most && context->frames[keep].pc_avma == buffer.pcs[buffer.count - 1 - keep]) ++keep;
  for (uint32_t i = keep; i < buffer.count; ++i) context->frames[i] = {buffer.pcs[buffer.count - 1 - i], 0};
  clear_flags(context, 0);
  context->count = buffer.count;
  context->plain_count = 0;
  context->end_cell = &kNoCell;
  context->is_linked = false;
  *delta = {keep, buffer.count - keep, context->frames + keep, buffer.truncation};
}

[[gnu::noinline]] void capture_new(UnwindContext* context, const StartFrame& start, StackDelta* delta) {
  count_one(context->counters->changed_stacks);
  const WalkState state{start.pc_avma, start.sp, start.bp};
  Walk walk{state};
  WalkEnd end = walk_new(context, true, &walk);
  const bool has_needed_copies =
      walk.has_copied && (walk.uses_bp || (walk.base != 0 && (context->flags[walk.base - 1] & kNeedsBp) != 0));
  // Where the walk's frames have come to lie over the previous stack's, those are gone.
  uint32_t untouched = kMaxFrames - walk.count;
  if (HEAPPROF_UNLIKELY(end == WalkEnd::kNeedsBp || has_needed_copies)) {
    end = WalkEnd::kNeedsWhole;
    if (context->count <= untouched) {
      count_one(context->counters->second_walks);
      walk = Walk{state};
      end = walk_new(context, false, &walk);
      if (kMaxFrames - walk.count < untouched) untouched = kMaxFrames - walk.count;
    }
  }
  if (HEAPPROF_LIKELY(end != WalkEnd::kNeedsWhole && walk.base + walk.count <= g_max_frames)) {
    return replace_frames(context, walk, delta);
  }
  if (context->count > untouched) {
    clear_flags(context, untouched);
    context->count = untouched;
  }
  count_one(context->counters->whole_walks);
  StackBuffer buffer{context->pcs, 0, g_max_frames, 0};
  walk_whole(context, state, start, &buffer);
  replace_pcs(context, buffer, delta);
}

[[gnu::noinline]] void void_rules(UnwindContext* context, uint64_t key, uint32_t generation) {
  if (context->rules_key != 0) count_one(context->counters->forgotten_rules);
  memset(context->rules, 0, sizeof context->rules);
  context->is_linked = false;  // by rules that may not hold any more
  context->plain_count = 0;
  std::atomic_signal_fence(
      std::memory_order_release);  // a handler that jumps out leaves either all void or the old key
  context->rules_key = key;
  context->generation = generation;
}

inline void use_generation(UnwindContext* context, uint32_t generation) {
  const uint64_t key = static_cast<uint64_t>(g_starts) << 32 | generation;
  if (HEAPPROF_UNLIKELY(context->rules_key != key)) void_rules(context, key, generation);
}

// A stack that was not found by rules, whose modules have not been announced.
void replace_unlinked(UnwindContext* context, const StackBuffer& buffer, StackDelta* delta) {
  replace_pcs(context, buffer, delta);
  for (uint32_t i = 0; i < delta->fresh; ++i) find_rule(context, delta->fresh_frames[i].pc_avma);
}

}  // namespace

uint64_t unwind_context_bytes() { return (sizeof(UnwindContext) + 4095) & ~uint64_t{4095}; }

UnwindContext* make_unwind_context(void* memory, wire::UnwindCounters* counters) {
  auto* context = static_cast<UnwindContext*>(memory);
  context->counters = counters;
  return context;
}

void reset_stack(UnwindContext* context) {
  context->stack = {};
  memset(context->flags, 0, context->count);  // an event that was left half way may have miscounted them
  context->flagged = 0;
  context->count = 0;
  context->plain_count = 0;
}

const uint64_t* current_stack(UnwindContext* context, uint32_t* count) {
  *count = context->count;
  for (uint32_t i = 0; i < *count; ++i) context->pcs[i] = context->frames[*count - 1 - i].pc_avma;
  return context->pcs;
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
  StackBuffer buffer{context->pcs, 0, g_max_frames, 0};
  // Too deep a stack loses its outermost frames, as in a walk.
  buffer.count = count < buffer.limit ? count : buffer.limit;
  if (count > buffer.limit) buffer.truncation = static_cast<uint32_t>(wire::TruncationCause::kDepth);
  memcpy(buffer.pcs, pcs, buffer.count * sizeof *pcs);
  replace_unlinked(context, buffer, delta);
}

void capture_frame_pointers(UnwindContext* context, const StartFrame& start, uint32_t generation, StackDelta* delta) {
  use_generation(context, generation);
  StackBuffer buffer{context->pcs, 0, g_max_frames, 0};
  walk_frame_pointers(context, start, &buffer);
  replace_unlinked(context, buffer, delta);
}

void set_generation(UnwindContext* context, uint32_t generation) { use_generation(context, generation); }

void capture_stack(UnwindContext* context, const StartFrame& start, uint32_t generation, StackDelta* delta) {
  use_generation(context, generation);
  if (is_same_stack(context, start)) {
    *delta = {context->count, 0, nullptr, 0};
  } else {
    capture_new(context, start, delta);
  }
}

}  // namespace heapprof::agent
