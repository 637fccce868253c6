// agent/python/python_stack.cc: compares the previous chain with the present one, innermost frame first; looks up and
// writes only what differs.
//
// The record's stack is one list of native and Python frames, and a record keeps its outermost part. So the first
// difference of either kind decides what is kept, and all frames further in are written again. A Python frame is
// unchanged if it has the same instruction at the same position among the native frames.
#include "agent/python/python_stack.h"

#include "agent/libc/raw.h"
#include "agent/process/arena.h"
#include "agent/process/known_pages.h"
#include "agent/python/codes.h"
#include "agent/python/frame_chain.h"
#include "agent/unwind/unwind_context.h"
#include "shared/python.h"

namespace heapprof::agent {

namespace {

struct PythonFrame : ChainFrame {
  CodeIdentity code;
  uint64_t word;      // in the record; 0: the interpreter's own frame, not shown
  uint32_t shown;     // how many frames from the outermost up to this one are shown
  uint32_t position;  // how many native frames are further out
};

constexpr uint32_t kSlots = 1024;
constexpr uint32_t kLatestCodes = 256;

// A code object whose number is known.
struct LatestCode {
  uint64_t code_avma;
  uint64_t unmaps;  // KnownPages::unmaps() when all memory that its identity is read from was readable
  CodeIdentity identity;
  uint32_t number;
};

}  // namespace

class PythonStack {
 public:
  uint32_t count;  // frames of the previous stack, shims included
  uint32_t native_count;
  bool is_cut;           // the stack is too deep for the room
  bool is_broken;        // the frame beyond its outermost one is not valid
  bool has_c_positions;  // the frames' positions come from the C stack
  KnownPages pages;
  uint16_t slots[kSlots];                      // by a frame's address: its index + 1 when it was last seen
  LatestCode codes[kLatestCodes];              // by address
  PythonFrame frames[wire::kMaxPythonFrames];  // outermost first
  ChainFrame fresh[wire::kMaxPythonFrames];    // at the end: the frames just read
  Frame combined[kMaxFrames + wire::kMaxPythonFrames];
};

namespace {

uint16_t* slot_of(PythonStack* stack, uint64_t frame_avma) {
  return &stack->slots[(frame_avma >> 4 ^ frame_avma >> 14) % kSlots];
}

[[gnu::always_inline]] inline bool is_same(const PythonLayout& layout, const PythonFrame& before) {
  return FrameChain::is_same(layout, before) &&
         (before.word == 0 || seems_same_code(layout, before.code_avma, before.code));
}

// True if the frame's position is right: its C frame lies in the native frame just outside it.
bool is_at(const UnwindContext* unwind, const PythonFrame& frame) {
  if (frame.position < 2 || frame.position > unwind->count || !unwind->is_linked) return false;
  const Frame* const evaluator = unwind->frames + frame.position - 1;
  return evaluator->sp <= frame.c_avma && evaluator[-1].sp > frame.c_avma;
}

// Returns how many of the outermost frames are unchanged, up to and including the chain's next frame; 0: unknown. kept:
// unchanged native frames. Increments *failed if the next frame is unchanged but one further out is not.
uint32_t count_same(const Python& python, PythonStack* stack, const UnwindContext* unwind, const FrameChain& chain,
                    uint32_t kept, uint32_t* failed) {
  const uint64_t frame_avma = chain.next_avma();
  const uint32_t count = *slot_of(stack, frame_avma);
  if (count == 0 || count > stack->count || stack->frames[count - 1].frame_avma != frame_avma ||
      stack->frames[count - 1].position > kept + 1)
    return 0;
  if (stack->frames[count - 1].position > kept) {  // the evaluator's call is at another line, or is another call
    const uint64_t c_avma = chain.next_c_avma();   // 0: the frames themselves say where it is
    if ((c_avma != 0 && stack->frames[count - 1].c_avma != c_avma) || !is_at(unwind, stack->frames[count - 1]))
      return 0;
  }
  const PythonLayout layout = python.layout;  // a copy, which nothing can change
  const PythonFrame* const first = stack->frames;
  for (const PythonFrame* frame = first + count; frame-- != first;) {
    if (HEAPPROF_LIKELY(is_same(layout, *frame))) continue;
    if (frame != first + count - 1) ++*failed;
    return 0;
  }
  return count;
}

struct ReadChain {
  uint32_t same;   // outermost frames of the previous stack that are unchanged
  uint32_t fresh;  // frames further in, at the end of stack->fresh
};

// Reads the chain up to where it is unchanged. A chain that is too deep loses its outermost frames.
ReadChain read_chain(const Python& python, PythonStack* stack, const UnwindContext* unwind, uint32_t kept,
                     bool can_compare) {
  constexpr uint32_t kEnd = wire::kMaxPythonFrames;
  constexpr uint32_t kMostFailed = 3;  // if a frame far out has changed, each attempt reads that far
  FrameChain chain(python, &stack->pages);
  ReadChain read{};
  bool is_cut = false;
  for (uint32_t failed = can_compare ? 0 : kMostFailed; chain.next_avma() != 0; ++read.fresh) {
    if (failed < kMostFailed) {
      read.same = count_same(python, stack, unwind, chain, kept, &failed);
      if (read.same != 0) break;
    }
    is_cut = read.fresh == kEnd;
    if (is_cut || !chain.next(&stack->fresh[kEnd - 1 - read.fresh])) break;
  }
  if (read.same + read.fresh > kEnd) {  // both are in stack->frames at the end
    read.same = 0;
    is_cut = true;
  }
  stack->is_cut = is_cut || (read.same != 0 && stack->is_cut);
  stack->is_broken = chain.is_broken() || (read.same != 0 && stack->is_broken);
  if (stack->is_broken) g_control->python_broken.fetch_add(1, std::memory_order_relaxed);
  return read;
}

// ---- Positions of frames ----

// Returns how many native frames are further out than an address on the C stack, including the frame in which the
// address lies; 0: unknown.
uint32_t position_of(const UnwindContext* unwind, uint64_t c_avma) {
  if (c_avma == 0 || !unwind->is_linked) return 0;
  const Frame* const frames = unwind->frames;  // outermost first: stack pointers decrease
  uint32_t low = 0, high = unwind->count;      // the first frame whose stack pointer is not above c_avma
  while (low < high) {
    const uint32_t middle = (low + high) / 2;
    if (frames[middle].sp <= c_avma) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low == unwind->count ? 0 : low + 1;
}

// first: the frames before it already have positions. False: the C stack does not give the positions.
bool position_by_stack(const UnwindContext* unwind, PythonFrame* frames, uint32_t first, uint32_t count) {
  for (uint32_t i = first; i < count; ++i) {
    const bool is_same_call = i != 0 && frames[i].c_avma == frames[i - 1].c_avma;
    const uint32_t position = is_same_call               ? frames[i - 1].position
                              : is_at(unwind, frames[i]) ? frames[i].position  // that of the frame before in this slot
                                                         : position_of(unwind, frames[i].c_avma);
    if (position == 0 || (i != 0 && position < frames[i - 1].position)) return false;
    frames[i].position = position;
  }
  return true;
}

// Pairs calls of the evaluator with frames that began one, innermost first. Frames without a call get the position of
// the next frame further in.
void position_by_evaluator(const Python& python, const UnwindContext* unwind, PythonFrame* frames, uint32_t count) {
  uint32_t native = unwind->count;
  uint32_t last = native;
  bool needs_call = true;
  for (uint32_t i = count; i-- != 0;) {
    if (needs_call && frames[i].code_avma != 0) {
      uint32_t at = native;
      while (at != 0 && unwind->frames[at - 1].pc_avma - 1 - python.evaluator_start >=
                            python.evaluator_end - python.evaluator_start)
        --at;
      if (at != 0) {
        last = at;
        native = at - 1;
      }
    }
    frames[i].position = last;
    if (frames[i].code_avma != 0) needs_call = frames[i].is_entry;
  }
}

// Gives positions to frames [same, count).
void find_positions(const Python& python, const UnwindContext* unwind, PythonStack* stack, uint32_t same,
                    uint32_t count) {
  PythonFrame* const frames = stack->frames;
  if (python.layout.entry == PythonEntry::kShim) {  // the frames inside a shim belong to its call, up to the next shim
    for (uint32_t i = same; i < count; ++i) {
      if (frames[i].code_avma == 0) continue;
      frames[i].c_avma = i == 0 ? 0 : frames[i - 1].c_avma;
      frames[i].is_entry = i != 0 && frames[i - 1].code_avma == 0;
    }
  }
  stack->has_c_positions = position_by_stack(unwind, frames, same, count);
  if (!stack->has_c_positions) position_by_evaluator(python, unwind, frames, count);
}

// ---- What is written ----

// Where a frame's code starts: a free-threaded interpreter gives each thread a copy of its own.
uint64_t code_start(const PythonLayout& layout, KnownPages* pages, const PythonFrame& frame) {
  if (layout.code_copies != kNoField && pages->holds(frame.code_avma + layout.code_copies, sizeof(uint64_t))) {
    const auto copies = *reinterpret_cast<const volatile uint64_t*>(frame.code_avma + layout.code_copies);
    const auto copy = *reinterpret_cast<const volatile int32_t*>(frame.frame_avma + layout.frame_copy);
    const uint64_t at = copies + sizeof(uint64_t) * (1 + static_cast<uint64_t>(copy));
    if (copy > 0 && copies % sizeof(uint64_t) == 0 && pages->holds(copies, sizeof(uint64_t)) &&
        static_cast<uint64_t>(copy) < *reinterpret_cast<const volatile uint64_t*>(copies) &&
        pages->holds(at, sizeof(uint64_t)))
      return *reinterpret_cast<const volatile uint64_t*>(at);
  }
  return frame.code_avma + layout.code_start;
}

// code: the number of the frame's code object.
uint64_t word_of(const PythonLayout& layout, KnownPages* pages, const PythonFrame& frame, uint32_t code) {
  uint64_t offset_bytes = frame.instruction * layout.instruction_scale;
  if (layout.instruction_scale == 0) {
    offset_bytes = frame.instruction - code_start(layout, pages, frame);
  } else if (static_cast<int32_t>(frame.instruction) < 0) {
    offset_bytes = 0;  // the frame has not begun
  }
  constexpr uint64_t kMostOffset = INT32_MAX;  // before the first instruction, the difference is "negative"
  return wire::pack_python_frame(code, offset_bytes > kMostOffset ? 0 : static_cast<uint32_t>(offset_bytes));
}

// Puts the frame that was read into *frame, which holds an older frame if has_older. False: the frame's code is no code
// object.
bool take_frame(const Python& python, PythonStack* stack, const ChainFrame& read, bool has_older, PythonFrame* frame) {
  KnownPages* const pages = &stack->pages;
  const bool is_same_code = has_older && frame->word != 0 && frame->code_avma == read.code_avma &&
                            seems_same_code(python.layout, read.code_avma, frame->code);
  static_cast<ChainFrame&>(*frame) = read;
  if (is_same_code) {
    frame->word = word_of(python.layout, pages, *frame, wire::python_code(frame->word));
    return true;
  }
  frame->word = 0;
  if (read.code_avma == 0) return true;
  LatestCode& latest = stack->codes[(read.code_avma >> 4 ^ read.code_avma >> 12) % kLatestCodes];
  if (latest.code_avma == read.code_avma && latest.unmaps == pages->unmaps() &&
      is_still(python, read.code_avma, latest.identity)) {
    frame->code = latest.identity;
  } else {
    if (!read_identity(python, pages, read.code_avma, &frame->code)) return false;
    if (is_trampoline(frame->code)) return true;
    latest = {read.code_avma, pages->unmaps(), frame->code, number_of_code(python, read.code_avma, frame->code)};
    if (latest.number == 0) latest.code_avma = 0;
    frame->word = word_of(python.layout, pages, *frame, latest.number);
    return true;
  }
  frame->word = word_of(python.layout, pages, *frame, latest.number);
  return true;
}

// Merges both lists, from native_first and python_first on, outermost first.
uint32_t combine(PythonStack* stack, const UnwindContext* unwind, uint32_t native_first, uint32_t python_first) {
  Frame* to = stack->combined;
  uint32_t python = python_first;
  for (uint32_t native = native_first; native <= unwind->count; ++native) {
    for (; python < stack->count && stack->frames[python].position <= native; ++python) {
      if (stack->frames[python].word != 0) *to++ = {stack->frames[python].word, 0};
    }
    if (native != unwind->count) *to++ = unwind->frames[native];
  }
  return static_cast<uint32_t>(to - stack->combined);
}

// How many of the outermost `count` frames are shown.
uint32_t shown(const PythonStack& stack, uint32_t count) { return count == 0 ? 0 : stack.frames[count - 1].shown; }

uint32_t truncation_of(const PythonStack& stack, const StackDelta& delta) {
  if (delta.truncation != 0 || !stack.is_cut) return delta.truncation;
  return static_cast<uint32_t>(wire::TruncationCause::kDepth);
}

}  // namespace

uint64_t python_stack_bytes() { return (sizeof(PythonStack) + 4095) & ~uint64_t{4095}; }

PythonStack* make_python_stack(void* memory) { return static_cast<PythonStack*>(memory); }

void add_python_frames(PythonStack* stack, UnwindContext* unwind, StackDelta* delta) {
  const Python& python = *g_python.load(std::memory_order_acquire);
  const bool can_compare = stack->pages.are_mapped_still() && stack->has_c_positions;
  const bool is_native_same = delta->fresh == 0 && delta->keep == stack->native_count;
  const uint32_t old_count = stack->count;
  stack->native_count = unwind->count;
  ReadChain read{};
  if (unwind->count != 0) read = read_chain(python, stack, unwind, delta->keep, can_compare);
  uint32_t native_keep = delta->keep, python_keep = read.same;
  if (is_native_same && read.fresh == 0 && read.same == old_count) {
    *delta = {native_keep + shown(*stack, python_keep), 0, stack->combined, truncation_of(*stack, *delta)};
    return;
  }
  // The kept part ends before the first changed frame of either kind.
  if (python_keep < old_count && stack->frames[python_keep].position < native_keep)
    native_keep = stack->frames[python_keep].position;
  uint32_t count = read.same + read.fresh;
  const ChainFrame* const fresh = stack->fresh + (wire::kMaxPythonFrames - read.fresh);
  for (uint32_t i = read.same; i < count; ++i) {
    PythonFrame& frame = stack->frames[i];
    const bool has_older = can_compare && i < old_count;
    if (!take_frame(python, stack, fresh[i - read.same], has_older, &frame)) {
      g_control->python_broken.fetch_add(1, std::memory_order_relaxed);
      count = i;
      break;
    }
    frame.shown = (i == 0 ? 0 : stack->frames[i - 1].shown) + (frame.word != 0 ? 1 : 0);
    *slot_of(stack, frame.frame_avma) = static_cast<uint16_t>(i + 1);
  }
  stack->count = count;
  find_positions(python, unwind, stack, read.same, count);
  if (!stack->has_c_positions) {  // all frames may have other positions
    native_keep = 0;
    python_keep = 0;
  } else if (python_keep < count && stack->frames[python_keep].position < native_keep) {
    native_keep = stack->frames[python_keep].position;
  }
  // Unchanged frames whose caller is a changed native frame are written again.
  while (python_keep != 0 && stack->frames[python_keep - 1].position > native_keep) --python_keep;
  const uint32_t fresh_count = combine(stack, unwind, native_keep, python_keep);
  *delta = {native_keep + shown(*stack, python_keep), fresh_count, stack->combined, truncation_of(*stack, *delta)};
}

}  // namespace heapprof::agent
