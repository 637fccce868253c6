// agent/unwind/previous_stack.cc: drops what is no longer valid, and nothing else.
//
// If a frame is no longer valid, it and all frames further in are dropped. The steps that found the frames further out
// do not depend on it.
#include "agent/unwind/previous_stack.h"

#include "agent/process/generation.h"

#include <string.h>

#include <atomic>

namespace heapprof::agent {

void clear_flags_from(UnwindContext* context, uint32_t base) {
  for (uint32_t i = base; i < context->count; ++i) {
    if (context->flags[i] != 0) --context->flagged;
    if ((context->flags[i] & kGuessed) != 0) --context->guessed;
    context->flags[i] = 0;
  }
}

void reset_stack(UnwindContext* context) {
  context->plain_count = 0;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  context->stacks.forget();
  context->deep.sp = 0;
  memset(context->flags, 0, context->count);  // an abandoned event may have miscounted them
  context->flagged = 0;
  context->guessed = 0;
  context->count = 0;
}

namespace {

// Drops the frames of the previous stack from frame `base` inwards. The rules that found the remaining frames are still
// valid.
void cut_stack(UnwindContext* context, uint32_t base) {
  if (base >= context->count) return;
  clear_flags(context, base);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  context->plain_count = context->is_linked && context->flagged == 0 ? base : 0;
  context->count = base;
}

// Drops what was known about a range of addresses that became invalid: its rules, and the frames of the previous stack
// from the outermost one in the range inwards. Otherwise a function loaded at the same address would be mistaken for
// its predecessor.
void forget_range(UnwindContext* context, const Ending& ending) {
  for (UnwindRule& rule : context->rules) {
    if (ending.holds_return(rule.pc_avma)) forget_rule(&rule);
  }
  for (uint32_t i = 0; i < context->count; ++i) {
    if (ending.holds_return(context->frames[i].pc_avma)) return cut_stack(context, i);
  }
}

void forget_everything(UnwindContext* context) {
  memset(context->rules, 0, sizeof context->rules);
  reset_stack(context);
}

}  // namespace

void enter_generation(UnwindContext* context, uint32_t generation) {
  context->deep.sp = 0;
  memset(context->go_calls, 0, sizeof context->go_calls);  // other code may be there now
  if (context->generation != 0) {
    count_one(context->counters->forgotten_rules);
    const bool is_known = for_each_ending(context->generation, generation,
                                          [context](const Ending& ending) { forget_range(context, ending); });
    if (!is_known) forget_everything(context);
  }
  // If a signal handler jumps out of this function, the old generation remains, and the next call does all of it again.
  std::atomic_signal_fence(std::memory_order_release);
  context->generation = generation;
}

void forget_guesses(UnwindContext* context) {
  uint32_t outermost = 0;
  while (outermost < context->count && (context->flags[outermost] & kGuessed) == 0) ++outermost;
  cut_stack(context, outermost);
}

}  // namespace heapprof::agent
