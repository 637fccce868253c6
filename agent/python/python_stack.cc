// agent/python/python_stack.cc: the previous chain is compared with the present one, from the innermost frame on; only
// what differs is looked up and written.
//
// The record's stack is one list of native and Python frames, and a record keeps its outermost part. So the first
// difference of either kind decides what is kept, and what is inside of it is written again. A frame of Python is as it
// was where it has the same instruction at the same position among the native frames.
#include "agent/python/python_stack.h"

#include "agent/process/arena.h"
#include "agent/process/known_pages.h"
#include "agent/python/codes.h"
#include "agent/python/frame_chain.h"
#include "agent/unwind/unwind_context.h"
#include "shared/python.h"

#include <string.h>

namespace heapprof::agent {

namespace {

struct PythonFrame : ChainFrame {
  CodeIdentity code;
  uint64_t word;      // of the record; 0: the interpreter's own, and not shown
  uint32_t shown;     // how many frames of Python up to this one are shown
  uint32_t position;  // how many native frames are outside of it
};

}  // namespace

class PythonStack {
 public:
  uint32_t count;  // of the previous stack
  uint32_t native_count;
  bool is_cut;           // it is deeper than there is room for
  bool has_c_positions;  // its frames stand where the C stack says
  KnownPages pages;
  PythonFrame frames[wire::kMaxPythonFrames];  // outermost first
  PythonFrame fresh[wire::kMaxPythonFrames];   // at the end: of the present chain, while it is compared
  Frame combined[kMaxFrames + wire::kMaxPythonFrames];
};

namespace {

bool is_same(const PythonLayout& layout, const ChainFrame& now, const PythonFrame& before) {
  return is_same_frame(now, before) && is_same_code(layout, before.code_avma, before.code);
}

// Whether the chain is the previous one.
bool is_unchanged(const Python& python, PythonStack* stack) {
  FrameChain chain(python, &stack->pages);
  ChainFrame found;
  uint32_t left = stack->count;
  while (chain.next(&found)) {
    if (left == 0 || !is_same(python.layout, found, stack->frames[left - 1])) return false;
    --left;
  }
  return left == 0 && !chain.is_broken();
}

// Reads the chain to the end of stack->fresh. Returns how many frames; too deep a chain loses its outermost ones.
uint32_t read_chain(const Python& python, PythonStack* stack) {
  FrameChain chain(python, &stack->pages);
  constexpr uint32_t kEnd = wire::kMaxPythonFrames;
  uint32_t at = kEnd, of_shim = kEnd;
  const auto end_call = [&](uint64_t shim_avma) {  // frames [at, of_shim) are of one call of the evaluator
    if (shim_avma == 0 || at == of_shim) return;
    for (uint32_t i = at; i < of_shim; ++i) stack->fresh[i].c_avma = shim_avma;
    stack->fresh[at].is_entry = true;
    of_shim = at;
  };
  ChainFrame found;
  while (at != 0 && chain.next(&found)) {
    end_call(chain.take_shim());
    static_cast<ChainFrame&>(stack->fresh[--at]) = found;
  }
  end_call(chain.take_shim());
  ChainFrame beyond;
  stack->is_cut = at == 0 && chain.next(&beyond);
  if (chain.is_broken()) g_control->python_broken.fetch_add(1, std::memory_order_relaxed);
  return kEnd - at;
}

// ---- Where frames stand ----

// How many native frames are outside of an address on the C stack, the frame that it lies in included; 0: not known.
uint32_t position_of(const UnwindContext* unwind, uint64_t c_avma) {
  if (c_avma == 0 || !unwind->is_linked) return 0;
  const Frame* const frames = unwind->frames;  // outermost first: stack pointers sink
  uint32_t low = 0, high = unwind->count;      // the first frame whose stack pointer is not above it
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

// first: the frames before it have their positions. False: the C stack does not say.
bool position_by_stack(const UnwindContext* unwind, PythonFrame* frames, uint32_t first, uint32_t count) {
  for (uint32_t i = first; i < count; ++i) {
    const bool is_same_call = i != 0 && frames[i].c_avma == frames[i - 1].c_avma;
    const uint32_t position = is_same_call ? frames[i - 1].position : position_of(unwind, frames[i].c_avma);
    if (position == 0 || (i != 0 && position < frames[i - 1].position)) return false;
    frames[i].position = position;
  }
  return true;
}

// Pairs calls of the evaluator with frames that began one, from the innermost on. Frames that find no call stand with
// those inside of them.
void position_by_evaluator(const Python& python, const UnwindContext* unwind, PythonFrame* frames, uint32_t count) {
  uint32_t native = unwind->count;
  uint32_t last = native;
  bool needs_call = true;
  for (uint32_t i = count; i-- != 0;) {
    if (needs_call) {
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
    needs_call = frames[i].is_entry;
  }
}

// same: so many frames, and kept: so many native ones, are as they were.
void find_positions(const Python& python, const UnwindContext* unwind, PythonStack* stack, PythonFrame* fresh,
                    uint32_t count, uint32_t same, uint32_t kept) {
  uint32_t known = 0;
  while (stack->has_c_positions && known < same && fresh[known].c_avma == stack->frames[known].c_avma &&
         stack->frames[known].position <= kept) {
    fresh[known].position = stack->frames[known].position;
    ++known;
  }
  stack->has_c_positions = position_by_stack(unwind, fresh, known, count);
  if (!stack->has_c_positions) position_by_evaluator(python, unwind, fresh, count);
}

// ---- What is written ----

// Where the code of a frame starts: a free-threaded interpreter gives each thread a copy of its own.
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

// False: the frame runs what is no code object.
bool find_word(const Python& python, KnownPages* pages, PythonFrame* frame) {
  if (!read_identity(python, pages, frame->code_avma, &frame->code)) return false;
  frame->word = 0;
  if (is_trampoline(frame->code)) return true;
  const uint32_t code = number_of_code(python, frame->code_avma, frame->code);
  uint64_t offset_bytes = frame->instruction * python.layout.instruction_scale;
  if (python.layout.instruction_scale == 0) {
    offset_bytes = frame->instruction - code_start(python.layout, pages, *frame);
  } else if (static_cast<int32_t>(frame->instruction) < 0) {
    offset_bytes = 0;  // it has not begun
  }
  constexpr uint64_t kMostOffset = INT32_MAX;  // before the first instruction it is a "negative" one
  frame->word = wire::pack_python_frame(code, offset_bytes > kMostOffset ? 0 : static_cast<uint32_t>(offset_bytes));
  return true;
}

// Both lists, from native_first and python_first on, outermost first.
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
  const bool is_mapped_still = stack->pages.are_mapped_still();
  const bool is_native_same = delta->fresh == 0 && delta->keep == stack->native_count;
  stack->native_count = unwind->count;
  if (is_native_same && is_mapped_still && unwind->count != 0 && is_unchanged(python, stack)) {
    *delta = {unwind->count + shown(*stack, stack->count), 0, stack->combined, truncation_of(*stack, *delta)};
    return;
  }
  uint32_t count = unwind->count != 0 ? read_chain(python, stack) : 0;
  PythonFrame* const fresh = stack->fresh + (wire::kMaxPythonFrames - count);
  uint32_t same = 0;  // the outermost so many are as they were
  for (uint32_t i = 0; i < count; ++i) {
    if (is_mapped_still && i < stack->count && is_same(python.layout, fresh[i], stack->frames[i])) {
      fresh[i].code = stack->frames[i].code;
      fresh[i].word = stack->frames[i].word;
      if (same == i) ++same;
    } else if (!find_word(python, &stack->pages, &fresh[i])) {
      g_control->python_broken.fetch_add(1, std::memory_order_relaxed);
      count = i;
      break;
    }
    fresh[i].shown = (i == 0 ? 0 : fresh[i - 1].shown) + (fresh[i].word != 0 ? 1 : 0);
  }
  if (same > count) same = count;
  find_positions(python, unwind, stack, fresh, count, same, delta->keep);

  // What is kept ends before the first frame of either kind that is not as it was.
  uint32_t native_keep = delta->keep, python_keep = 0;
  while (python_keep < same && fresh[python_keep].position <= delta->keep &&
         fresh[python_keep].position == stack->frames[python_keep].position)
    ++python_keep;
  if (python_keep < stack->count && stack->frames[python_keep].position < native_keep)
    native_keep = stack->frames[python_keep].position;
  if (python_keep < count && fresh[python_keep].position < native_keep) native_keep = fresh[python_keep].position;
  memcpy(stack->frames + python_keep, fresh + python_keep, (count - python_keep) * sizeof *fresh);
  stack->count = count;
  const uint32_t fresh_count = combine(stack, unwind, native_keep, python_keep);
  *delta = {native_keep + shown(*stack, python_keep), fresh_count, stack->combined, truncation_of(*stack, *delta)};
}

}  // namespace heapprof::agent
