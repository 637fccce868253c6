// agent/unwind/previous_stack.h: drops those parts of the previous stack, and of the caches that belong to it, that are
// no longer valid.
//
// Context:  walks; a signal handler may jump out of any of these functions.
#pragma once

#include "agent/libc/raw.h"
#include "agent/unwind/unwind_context.h"

#include <cstdint>

namespace heapprof::agent {

// Clears the flags of the frames from `base` on.
void clear_flags_from(UnwindContext* context, uint32_t base);
inline void clear_flags(UnwindContext* context, uint32_t base) {
  if (HEAPPROF_UNLIKELY(context->flagged != 0)) clear_flags_from(context, base);
}

// Drops what has become invalid up to this generation.
void enter_generation(UnwindContext* context, uint32_t generation);

// An object may have been loaded at an address that was in no object: drops the frames from the outermost guessed one
// inwards.
void forget_guesses(UnwindContext* context);

}  // namespace heapprof::agent
