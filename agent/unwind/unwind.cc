// agent/unwind/unwind.cc: walks only what changed since the previous stack. (agent/unwind/README.md has a worked
// example.)
//
// A step from a frame to its caller is a pure function of the frame's state (pc, sp, and bp if rules use it), of the
// rule for pc, and of the stack slots that the rule reads. Suppose a walk reaches a state that the previous walk of
// this context also reached, and every slot that the previous walk read from there on is unchanged. Then this walk
// would find the very same frames. It does not matter what happened in between, or what wrote the slots. The slots are
//  - the return address of each step: the word below the caller's sp, which must hold the caller's pc;
//  - if an outer frame depends on bp: the saved bp of a step, and a CFA kept in memory (FrameFlags; rare without frame
//    pointers);
//  - the return address 0 that ended the stack.
// The agent compares slots from the innermost frame outwards, up to the first difference. So it reads only memory that
// a walk would read.
//
// If a slot differs and no step uses bp, the walk takes over the frames further in from the previous stack, because
// their steps were just verified. It goes on after them.
//
// If no call frame information describes a frame (JIT code), the agent takes the frame pointer to lead to its caller.
// That step is like one of code with frame pointers: the caller's bp and the return address are at bp (on x86-64 the
// CFA is bp + 16). So the frame is verified like a frame of such code. It is marked (kGuessed), because the stack is a
// guess. The slots cannot verify that there is still no object at the frame's address: the agent assumes so until it
// sees the loader allocate (g_loads).
//
// Some stacks need more than that (signal frames, undescribed code without frame pointers). They are not verified but
// walked whole each time, because they depend on more than sp, bp and the return addresses.
#include "agent/unwind/unwind.h"

#include "agent/libc/raw.h"
#include "agent/process/generation.h"
#include "agent/process/modules.h"
#include "agent/unwind/previous_stack.h"
#include "agent/unwind/rule_cache.h"
#include "agent/unwind/unwind_context.h"
#include "agent/unwind/unwind_fast.h"
#include "agent/unwind/unwind_step.h"
#include "shared/events.h"

#include <string.h>

#include <atomic>

namespace heapprof::agent {

uint32_t g_max_frames = kMaxFrames;

[[gnu::noinline]] uint32_t find_broken_flagged(const UnwindContext* context, uint32_t count) {
  for (uint32_t i = count; i != 0; --i) {  // the step from frame i to frame i - 1
    const Frame& caller = context->frames[i - 1];
    const uint8_t flags = context->flags[i];
    if (flags != 0) {
      const FrameBp& frame = context->bps[i];
      if ((flags & kCfaSlot) != 0 && *frame.cfa_slot != caller.sp) return i;
      if ((flags & kBpSlot) != 0 && *frame.bp_slot != context->bps[i - 1].bp) return i;
    }
    if (!is_intact(caller)) return i;
  }
  return 0;
}

namespace {

// ---- The walk of the new frames ----

enum class WalkEnd : uint8_t {
  kMet,        // the walk met the previous stack, whose frames [0, base) are the rest
  kEnded,      // the walk reached the end of the stack; base is 0
  kNeedsBp,    // a rule needs bp, which is unknown after frames were taken over: walk again without taking frames over
  kNeedsWhole  // a frame needs more than a compact rule
};

struct Walk {
  const Frame* fresh;                         // the new frames, outermost first, up to the end of context->frames
  uint32_t base;                              // how many outer frames of the previous stack are kept
  bool uses_bp;                               // the rule of a new frame uses bp
  uint32_t guessed;                           // new frames that are undescribed
  bool has_copied;                            // some of the new frames were taken over from the previous stack
  const uint64_t* end_slot;                   // as in UnwindContext
  [[no_unique_address]] ReturnSlot met_slot;  // of the innermost frame that is kept

  uint32_t count(const UnwindContext* context) const {
    return static_cast<uint32_t>(context->frames + kMaxFrames - fresh);
  }
};

// The innermost frame of the previous stack that a walk at `sp` may still meet.
inline const Frame* skip_inner(const Frame* old, uint64_t sp) {
  while (old->sp < sp) --old;  // UnwindContext::outside at the latest
  return old;
}

// Walks from `state` until it meets the previous stack or the end. kMayCopy: if a slot of the previous stack differs,
// the walk takes over the frames further in.
template <bool kMayCopy>
[[gnu::always_inline]] inline WalkEnd walk_new(UnwindContext* context, WalkState state, Walk* walk) {
  *walk = {nullptr, 0, false, 0, false, &kNoSlot, {}};
  context->stacks.go_to(state.sp);
  Frame* const frames = context->frames;
  Frame* fresh = frames + kMaxFrames;
  WalkedFrame* walked = context->walked + kMaxFrames;
  const Frame* old = context->is_linked ? frames + context->count - 1 : &context->outside;
  bool is_bp_known = true;
  WalkEnd end = WalkEnd::kEnded;
  for (;;) {
    old = skip_inner(old, state.sp);
    const auto candidates = static_cast<uint32_t>(old + 1 - frames);
    if (old->sp == state.sp && old->pc_avma == state.pc_avma && has_same_bp(context, candidates - 1, state.bp)) {
      if (!is_bp_known && (context->flags[candidates - 1] & kNeedsBp) != 0) {
        end = WalkEnd::kNeedsBp;
        break;
      }
      const uint32_t broken = find_broken_any(context, candidates - 1);
      if (HEAPPROF_LIKELY(broken == 0)) {
        if (HEAPPROF_LIKELY(has_same_end(context))) {
          walk->base = candidates;
          walk->met_slot = state.slot;
          walk->end_slot = context->end_slot;
          end = WalkEnd::kMet;
          break;
        }
        old = frames - 1;
      } else {
        if (kMayCopy && context->flagged == 0) {
          Frame* const met = fresh - 1;
          for (; old >= frames + broken; --old, --walked) *--fresh = *old;
          met->slot = state.slot;
          walk->has_copied = true;
          is_bp_known = false;
          state.sp = old->sp;
          state.slot = old->slot;
          state.pc_avma = load_return(state.return_avma());
          --old;
          if (state.pc_avma != 0) continue;
          walk->end_slot = slot_at(state.return_avma());
          break;
        }
        old = frames + broken - 2;
      }
    }
    if (HEAPPROF_UNLIKELY(fresh - 1 <= old)) {
      end = WalkEnd::kNeedsWhole;
      break;
    }
    const UnwindRule* rule = find_rule(context, state.pc_avma);
    *--fresh = {state.pc_avma, state.sp, state.slot};
    *--walked = {state.bp, *rule};
    if (HEAPPROF_UNLIKELY(rule->kind != RuleKind::kCfaFromSp)) {
      if (rule->kind == RuleKind::kEndOfStack) break;
      if (!is_bp_known) {
        end = WalkEnd::kNeedsBp;
        break;
      }
      walk->uses_bp = true;
      if (rule->kind == RuleKind::kNoUnwindInfo) {
        ++walk->guessed;
        if (guess_step(context, &state)) continue;
        end = WalkEnd::kNeedsWhole;
        break;
      }
    }
    if (bp_offset_words(rule->saved) != 0) is_bp_known = true;
    if (HEAPPROF_UNLIKELY(step(rule, &context->stacks, &state) != StepResult::kStepped)) {
      end = WalkEnd::kNeedsWhole;
      break;
    }
    if (HEAPPROF_UNLIKELY(state.pc_avma == 0)) {
      walk->end_slot = slot_at(state.return_avma());
      break;
    }
  }
  walk->fresh = fresh;
  return end;
}

[[gnu::noinline]] WalkEnd walk_new_again(UnwindContext* context, const WalkState& state, Walk* walk) {
  count_one(context->counters->second_walks);
  return walk_new<false>(context, state, walk);
}

// ---- The new stack ----

// Sets the flags of the frames [base, count), outermost first. `walked` points to what the step of frame `base`
// depended on. Returns false if the stack cannot be verified.
bool set_flags(UnwindContext* context, uint32_t base, uint32_t count, const WalkedFrame* walked) {
  bool is_bp_needed = base != 0 && (context->flags[base - 1] & kNeedsBp) != 0;
  for (uint32_t i = base; i < count; ++i, ++walked) {
    FrameBp& frame = context->bps[i];
    uint8_t flags = 0;
    const uint64_t cfa = i != 0 ? context->frames[i - 1].sp : 0;
    if (walked->rule.kind == RuleKind::kNoUnwindInfo) {
      flags = kNeedsBp | kGuessed;
      ++context->guessed;
      // Where the record does not tell the caller's sp, that was found by the bp in it.
      if (is_bp_needed || (!kIsRecordAtFrameEnd && i != 0)) {
        flags |= kBpSlot;
        frame.bp_slot = slot_at(context->frames[i - 1].return_avma() - 8);
        if (!is_bp_needed) context->bps[i - 1].bp = *frame.bp_slot;
      }
    } else if (walked->rule.kind == RuleKind::kRealigned) {
      if (i == 0) return false;
      flags = kNeedsBp | kCfaSlot;
      frame.cfa_slot = slot_at(walked->bp + static_cast<uint64_t>(int64_t{walked->rule.cfa_offset_bytes}));
      if (is_bp_needed) {
        flags |= kBpSlot;
        frame.bp_slot = slot_at(walked->bp);
      }
    } else {
      const int64_t bp_offset = bp_offset_words(walked->rule.saved);
      if (bp_offset != 0 && is_bp_needed) {
        flags = kBpSlot;
        frame.bp_slot = slot_at(cfa + static_cast<uint64_t>(bp_offset * 8));
      }
      const bool passes_bp_on = walked->rule.kind == RuleKind::kCfaFromSp && bp_offset == 0;
      if (walked->rule.kind == RuleKind::kCfaFromBp || (passes_bp_on && is_bp_needed)) flags |= kNeedsBp;
    }
    is_bp_needed = (flags & kNeedsBp) != 0;
    frame.bp = walked->bp;
    context->flags[i] = flags;
    if (flags != 0) ++context->flagged;
  }
  return true;
}

// Replaces the frames of the previous stack from `base` inwards with the walk's frames.
[[gnu::always_inline]] inline void replace_frames(UnwindContext* context, const Walk& walk, StackDelta* delta) {
  const uint32_t base = walk.base;
  const uint32_t fresh_count = walk.count(context);
  const uint32_t count = base + fresh_count;
  clear_flags(context, base);
  if (base != 0) context->frames[base - 1].slot = walk.met_slot;
  // The delta counts these frames as kept, because their program counters are those of the previous stack. Something
  // else in them changed.
  Frame* to = context->frames + base;
  const Frame* from = walk.fresh;
  const Frame* const end = context->frames + kMaxFrames;
  const Frame* const old_end = context->frames + context->count;
  for (; from != end && to < old_end && to < walk.fresh && to->pc_avma == from->pc_avma; ++from, ++to) *to = *from;
  const auto keep = static_cast<uint32_t>(to - context->frames);
  for (; from != end; ++from, ++to) *to = *from;  // few; they may overlap
  // Flags are 0 from `count` on, at every instant: a signal handler may jump out.
  std::atomic_signal_fence(std::memory_order_seq_cst);
  context->count = count;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  context->end_slot = walk.end_slot;
  context->is_linked = true;
  const bool is_guess = walk.guessed != 0 || context->guessed != 0;
  const auto truncation = is_guess ? static_cast<uint32_t>(wire::TruncationCause::kNoUnwindInfo) : 0;
  const bool is_bp_needed = context->flagged != 0 && base != 0 && (context->flags[base - 1] & kNeedsBp) != 0;
  if (HEAPPROF_UNLIKELY(walk.uses_bp || is_bp_needed)) {
    context->is_linked = set_flags(context, base, count, context->walked + (kMaxFrames - fresh_count));
    if (!context->is_linked) clear_flags(context, 0);
  }
  std::atomic_signal_fence(std::memory_order_seq_cst);
  context->plain_count = context->is_linked && context->flagged == 0 ? count : 0;
  *delta = {keep, count - keep, context->frames + keep, truncation};
}

// Stores the program counters of the buffer (innermost first) as the stack. No rules link its frames, so it cannot be
// verified later.
void replace_pcs(UnwindContext* context, StackBuffer buffer, StackDelta* delta) {
  const bool is_too_deep = buffer.truncation == static_cast<uint32_t>(wire::TruncationCause::kDepth);
  if (is_too_deep && g_max_frames == kMaxFrames) buffer.count = kFramesOfTooDeep;
  const uint32_t most = context->count < buffer.count ? context->count : buffer.count;
  uint32_t keep = 0;
  context->plain_count = 0;  // set first, because these frames have no stack pointers
  context->is_linked = false;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  while (keep < most && context->frames[keep].pc_avma == buffer.pcs[buffer.count - 1 - keep]) ++keep;
  for (uint32_t i = keep; i < buffer.count; ++i) context->frames[i] = {buffer.pcs[buffer.count - 1 - i], 0};
  clear_flags(context, 0);
  context->count = buffer.count;
  context->end_slot = &kNoSlot;
  *delta = {keep, buffer.count - keep, context->frames + keep, buffer.truncation};
}

// If a stack is too deep, notes the frame after the recorded ones, so that the next walk need not go further. A signal
// handler may jump out at any instant.
void note_depth(UnwindContext* context, const StackBuffer& buffer) {
  context->deep.sp = 0;
  const bool is_too_deep = buffer.truncation == static_cast<uint32_t>(wire::TruncationCause::kDepth);
  if (!is_too_deep || g_max_frames != kMaxFrames || buffer.behind_recorded.sp == 0) return;
  const uint32_t known = buffer.known_count != 0 ? buffer.known_count : buffer.count;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  context->deep.pc_avma = buffer.behind_recorded.pc_avma;
  context->deep.count = known - kFramesOfTooDeep;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  context->deep.sp = buffer.behind_recorded.sp;
}

// Walks from scratch. Earlier walks may have overwritten frames of the previous stack from index `untouched` on.
[[gnu::noinline]] void capture_whole(UnwindContext* context, const StartFrame& start, uint32_t untouched,
                                     StackDelta* delta) {
  count_one(context->counters->whole_walks);
  if (context->count > untouched) {
    clear_flags(context, untouched);
    context->count = untouched;
  }
  StackBuffer buffer{context->pcs, 0, g_max_frames, 0};
  walk_whole(context, {start.pc_avma, start.sp, start.bp}, start, &buffer);
  note_depth(context, buffer);
  replace_pcs(context, buffer, delta);
}

inline void use_generation(UnwindContext* context, uint32_t generation) {
  if (HEAPPROF_UNLIKELY(context->generation != generation)) enter_generation(context, generation);
}

// Takes over a stack that was found without rules, and announces its modules by looking up the rules.
void replace_unlinked(UnwindContext* context, const StackBuffer& buffer, StackDelta* delta) {
  replace_pcs(context, buffer, delta);
  for (uint32_t i = 0; i < delta->fresh; ++i) find_rule(context, delta->fresh_frames[i].pc_avma);
}

}  // namespace

uint64_t unwind_context_bytes() { return (sizeof(UnwindContext) + 4095) & ~uint64_t{4095}; }

UnwindContext* make_unwind_context(void* memory, wire::UnwindCounters* counters) {
  auto* context = static_cast<UnwindContext*>(memory);
  context->counters = counters;
  context->workspace.stacks = &context->stacks;
  context->outside = {0, ~uint64_t{0}};
  return context;
}

const uint64_t* current_stack(UnwindContext* context, uint32_t* count) {
  *count = context->count;
  for (uint32_t i = 0; i < *count; ++i) context->pcs[i] = context->frames[*count - 1 - i].pc_avma;
  return context->pcs;
}

bool init_unwinder() {
  reset_modules();
  find_handler_return();
  return init_rule_cache();
}

void set_max_frames(uint32_t max_frames) {
  g_max_frames = max_frames == 0 || max_frames > kMaxFrames ? kMaxFrames : max_frames;
}

void replace_stack(UnwindContext* context, const uint64_t* pcs, uint32_t count, uint32_t generation,
                   StackDelta* delta) {
  use_generation(context, generation);
  StackBuffer buffer{context->pcs, 0, g_max_frames, 0};
  // A stack that is too deep loses its outermost frames, as in a walk.
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
  const uint64_t loads = g_loads.load(std::memory_order_relaxed);
  if (HEAPPROF_UNLIKELY(context->guessed != 0 && (context->guessed_at != loads || !is_absence_certain())))
    forget_guesses(context);
  context->guessed_at = loads;
  // From here on frames are replaced. A handler may run at any instant, and must not mistake a half-replaced stack for
  // one that return addresses verify (compare_plain_stack).
  context->plain_count = 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  const WalkState state{start.pc_avma, start.sp, start.bp};
  // A stack that is too deep has no links that another walk could use.
  if (HEAPPROF_UNLIKELY(context->deep.sp > start.sp)) return capture_whole(context, start, kMaxFrames, delta);
  Walk walk;
  WalkEnd end = walk_new<true>(context, state, &walk);
  if (walk.count(context) != 0) count_one(context->counters->changed_stacks);
  uint32_t untouched = kMaxFrames - walk.count(context);
  const bool has_needed_copies =
      walk.has_copied && (walk.uses_bp || (walk.base != 0 && (context->flags[walk.base - 1] & kNeedsBp) != 0));
  if (HEAPPROF_UNLIKELY(end == WalkEnd::kNeedsBp || has_needed_copies)) {
    end = WalkEnd::kNeedsWhole;
    if (context->count <= untouched) {  // else the walk's frames have overwritten the previous stack's
      end = walk_new_again(context, state, &walk);
      const uint32_t untouched_again = kMaxFrames - walk.count(context);
      if (untouched_again < untouched) untouched = untouched_again;
    }
  }
  // (Guessed frames of the previous stack may adjoin new ones, and then count towards the same limit.)
  const bool may_be_linked = walk.guessed == 0 || walk.guessed + context->guessed <= kMaxGuessedFrames;
  if (HEAPPROF_LIKELY(end != WalkEnd::kNeedsWhole && may_be_linked &&
                      walk.base + walk.count(context) <= g_max_frames)) {
    replace_frames(context, walk, delta);
  } else {
    capture_whole(context, start, untouched, delta);
  }
}

}  // namespace heapprof::agent
