// agent/unwind/unwind_plain.h: walks the new part of a stack whose steps do not use bp: the common case of walk_new
// (unwind.cc). Inlined into record.cc; unwind.cc explains why the result is right.
//
// It needs a plain previous stack: rules lead from each frame to the next by sp alone. New frames have to be
// plain, too, and their rules cached. Then a frame is just sp and pc, and only two things can have changed:
//  - There are new frames further in than the first known frame that the walk reaches: they are walked.
//  - A return address differs, but its frame has the same size, because another line of the same function called. The
//    return address is replaced. All frames further in are kept, because their steps do not read it.
// Nothing is changed before all of this has been verified. The result is what walk_new would find.
#pragma once

#include "agent/unwind/unwind_fast.h"

#include <cstdint>

namespace heapprof::agent {

inline constexpr uint32_t kMostPlainFresh = 64;  // new frames
inline constexpr uint32_t kMostOtherLines = 8;   // return addresses that changed further out

// The rule for pc_avma if it is cached and plain; else nullptr. (A stack ends at pc 0, whose rule is never plain.)
inline const UnwindRule* find_plain_rule(UnwindContext* context, uint64_t pc_avma) {
  const UnwindRule* rule = rule_slot(context, pc_avma);
  return HEAPPROF_LIKELY(rule->pc_avma == pc_avma && rule->is_plain) ? rule : nullptr;
}

// False: nothing was changed; the caller has to call capture_stack. pre: the rules belong to the current generation
[[gnu::always_inline]] inline bool capture_plain_stack(UnwindContext* context, uint64_t pc_avma, uint64_t sp,
                                                       StackDelta* delta) {
  const uint32_t old_count = context->plain_count;
  const AddressRange& stack = context->stacks.current();
  if (old_count == 0 || old_count > kMaxFrames - 2 * kMostPlainFresh || !stack.holds(sp)) return false;
  Frame* const frames = context->frames;
  Frame* const fresh_end = frames + kMaxFrames;  // as in walk_new, new frames are kept there until all are known
  Frame* fresh = fresh_end;
  Frame* old = frames + old_count - 1;
  ReturnSlot slot = {};
  for (;;) {
    while (old->sp < sp) --old;  // UnwindContext::outside at the latest
    if (old->sp == sp && old->pc_avma == pc_avma) break;
    const UnwindRule* rule = find_plain_rule(context, pc_avma);
    if (HEAPPROF_UNLIKELY(rule == nullptr || fresh == fresh_end - kMostPlainFresh)) return false;
    *--fresh = {pc_avma, sp, slot};
    sp += static_cast<uint64_t>(int64_t{rule->cfa_offset_bytes});
    if (HEAPPROF_UNLIKELY(sp > stack.end)) return false;
    slot = return_slot(rule->saved, sp);
    pc_avma = load_return(slot_avma(slot, sp));
  }

  struct OtherLine {
    Frame* frame;
    uint64_t pc_avma;
  };
  OtherLine lines[kMostOtherLines];
  uint32_t line_count = 0;
  for (Frame* checked = old;;) {
    const uint32_t broken = find_broken(context, static_cast<uint32_t>(checked - frames));
    if (HEAPPROF_LIKELY(broken == 0)) break;
    checked = frames + broken - 1;
    const uint64_t found_avma = load_return(checked->return_avma());
    const UnwindRule* rule = find_plain_rule(context, found_avma);
    if (rule == nullptr || line_count == kMostOtherLines) return false;
    if (!leads_to(*rule, checked->sp, checked[-1])) return false;
    lines[line_count++] = {checked, found_avma};
  }
  if (HEAPPROF_UNLIKELY(!has_same_end(context))) return false;
  Frame* to = old + 1;
  const auto count = static_cast<uint32_t>(to - frames + (fresh_end - fresh));
  if (HEAPPROF_UNLIKELY(count > g_max_frames)) return false;

  if (fresh != fresh_end || line_count != 0) count_one(context->counters->changed_stacks);
  context->plain_count = 0;  // as in capture_stack
  std::atomic_signal_fence(std::memory_order_seq_cst);
  old->slot = slot;
  const Frame* first_changed;
  if (line_count != 0) {
    for (uint32_t i = 0; i < line_count; ++i) lines[i].frame->pc_avma = lines[i].pc_avma;
    first_changed = lines[line_count - 1].frame;
  } else {
    const Frame* const old_end = frames + old_count;
    for (; fresh != fresh_end && to < old_end && to->pc_avma == fresh->pc_avma; ++fresh, ++to) *to = *fresh;
    first_changed = to;
  }
  for (; fresh != fresh_end; ++fresh, ++to) *to = *fresh;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  context->count = count;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  context->plain_count = count;
  const auto keep = static_cast<uint32_t>(first_changed - frames);
  *delta = {keep, count - keep, first_changed, 0};
  return true;
}

// Tries the hooks' common path (record_fast.h), then capture_plain_stack. For callers that combine the result with
// Python frames or compare it with another unwinder's. pre: the rules belong to the current generation
inline bool capture_as_hooks_do(UnwindContext* context, const StartFrame& start, StackDelta* delta) {
  switch (compare_plain_stack(context, start.pc_avma, start.sp)) {
    case Likeness::kSame: *delta = {context->count, 0, nullptr, 0}; return true;
    case Likeness::kOtherLine: *delta = {context->count - 1, 1, context->frames + context->count - 1, 0}; return true;
    case Likeness::kOther: break;
  }
  return capture_plain_stack(context, start.pc_avma, start.sp, delta);
}

}  // namespace heapprof::agent
