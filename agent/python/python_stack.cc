// agent/python/python_stack.cc: the previous chain is compared with the present one, from the innermost frame on; only
// what differs is looked up and written.
//
// The record's stack is one list of native and Python frames, and a record keeps its outermost part. So the first
// difference of either kind decides what is kept, and what is inside of it is written again.
#include "agent/python/python_stack.h"

#include "agent/process/arena.h"
#include "agent/process/known_pages.h"
#include "agent/python/codes.h"
#include "agent/unwind/unwind_context.h"
#include "shared/python.h"

#include <string.h>

namespace heapprof::agent {

namespace {

struct PythonFrame {
  uint64_t frame_avma;
  uint64_t code_avma;
  uint64_t instruction;
  uint64_t c_avma;    // on the C stack, within the evaluator's call; 0: not known
  uint64_t word;      // of the record
  uint32_t position;  // how many native frames are outside of it
  bool is_entry;      // the evaluator's call began with it
};

uint64_t load(uint64_t avma) { return *reinterpret_cast<const volatile uint64_t*>(avma); }

}  // namespace

class PythonStack {
 public:
  uint32_t count;  // of the previous stack
  uint32_t native_count;
  bool is_cut;  // it is deeper than there is room for
  KnownPages pages;
  PythonFrame frames[wire::kMaxPythonFrames];  // outermost first
  PythonFrame fresh[wire::kMaxPythonFrames];   // at the end: of the present chain, while it is compared
  Frame combined[kMaxFrames + wire::kMaxPythonFrames];
};

namespace {

// Goes through a chain of frames, from the innermost on.
class Chain {
 public:
  Chain(const Python& python, KnownPages* pages) : layout_(python.layout), pages_(*pages) {
    const uint64_t thread = python.thread_state();
    if (thread == 0) return;
    const uint16_t top = layout_.thread_top != kNoField ? layout_.thread_top : layout_.thread_c_frame;
    if (!can_read(thread, top + 8u)) return;
    if (layout_.thread_c_frame != kNoField) {
      if (!can_read(thread, layout_.thread_c_frame + 8u)) return;
      c_frame_ = load(thread + layout_.thread_c_frame);
      if (!can_read(c_frame_, 24)) return;
    }
    frame_ = layout_.thread_top != kNoField ? load(thread + layout_.thread_top) : load(c_frame_ + layout_.c_frame_top);
  }

  bool is_broken() const { return is_broken_; }

  // The next frame of Python's; false: there is none. shim_avma: see take_shim
  bool next(PythonFrame* found) {
    for (;;) {
      if (frame_ == 0) return false;
      if (frame_ % 8 != 0 || !can_read(frame_, kFrameBytes)) return fail();
      if (layout_.entry != PythonEntry::kShim || owner() < 3) break;
      shim_avma_ = frame_;
      frame_ = load(frame_ + layout_.frame_previous);
      return next_is_behind_shim(found);
    }
    take(found);
    return true;
  }

  // Where the shim stands that the frames before belong to; 0: none came since the last call.
  uint64_t take_shim() {
    const uint64_t shim = shim_avma_;
    shim_avma_ = 0;
    return shim;
  }

 private:
  static constexpr uint64_t kFrameBytes = 112;

  bool can_read(uint64_t avma, uint64_t bytes) { return pages_.holds(avma, bytes) || fail(); }
  bool fail() {
    is_broken_ = true;
    frame_ = 0;
    return false;
  }
  unsigned char owner() const { return *reinterpret_cast<const volatile unsigned char*>(frame_ + layout_.frame_owner); }

  bool next_is_behind_shim(PythonFrame* found) {
    // Of two shims in a row the outer one has no frame of its own.
    uint64_t shims = 0;
    while (frame_ != 0 && ++shims < wire::kMaxPythonFrames) {
      if (frame_ % 8 != 0 || !can_read(frame_, kFrameBytes)) return fail();
      if (owner() < 3) {
        take(found);
        return true;
      }
      frame_ = load(frame_ + layout_.frame_previous);
    }
    return false;
  }

  void take(PythonFrame* found) {
    found->frame_avma = frame_;
    found->code_avma = load(frame_ + layout_.frame_code) & ~uint64_t{7};  // 3.14 has tags there
    found->instruction =
        layout_.instruction_scale != 0
            ? static_cast<uint64_t>(*reinterpret_cast<const volatile uint32_t*>(frame_ + layout_.frame_instruction))
            : load(frame_ + layout_.frame_instruction);
    found->c_avma = 0;
    found->is_entry = layout_.entry == PythonEntry::kEachFrame;
    if (layout_.entry == PythonEntry::kFlag)
      found->is_entry = *reinterpret_cast<const volatile unsigned char*>(frame_ + layout_.frame_is_entry) != 0;
    if (layout_.thread_c_frame != kNoField && layout_.entry != PythonEntry::kShim) {
      found->c_avma = c_frame_;
      if (found->is_entry && c_frame_ != 0) {
        c_frame_ = load(c_frame_ + layout_.c_frame_previous);
        if (c_frame_ != 0 && !pages_.holds(c_frame_, 24)) c_frame_ = 0;
      }
    }
    frame_ = load(frame_ + layout_.frame_previous);
  }

  const PythonLayout& layout_;
  KnownPages& pages_;
  uint64_t frame_ = 0;
  uint64_t c_frame_ = 0;
  uint64_t shim_avma_ = 0;
  bool is_broken_ = false;
};

bool is_same(const PythonFrame& a, const PythonFrame& b) {
  return a.frame_avma == b.frame_avma && a.code_avma == b.code_avma && a.instruction == b.instruction;
}

// Whether the chain is the previous one.
bool is_unchanged(const Python& python, PythonStack* stack) {
  Chain chain(python, &stack->pages);
  PythonFrame found;
  uint32_t left = stack->count;
  while (chain.next(&found)) {
    if (left == 0 || !is_same(found, stack->frames[left - 1])) return false;
    --left;
  }
  return left == 0 && !chain.is_broken();
}

// Reads the chain to the end of stack->fresh. Returns how many frames; too deep a chain loses its outermost ones.
uint32_t read_chain(const Python& python, PythonStack* stack) {
  Chain chain(python, &stack->pages);
  constexpr uint32_t kEnd = wire::kMaxPythonFrames;
  uint32_t at = kEnd, of_shim = kEnd;
  const auto end_call = [&](uint64_t shim_avma) {  // frames [at, of_shim) are of one call of the evaluator
    if (shim_avma == 0 || at == of_shim) return;
    for (uint32_t i = at; i < of_shim; ++i) stack->fresh[i].c_avma = shim_avma;
    stack->fresh[at].is_entry = true;
    of_shim = at;
  };
  PythonFrame found;
  while (at != 0 && chain.next(&found)) {
    end_call(chain.take_shim());
    stack->fresh[--at] = found;
  }
  end_call(chain.take_shim());
  PythonFrame beyond;
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

bool position_by_stack(const UnwindContext* unwind, PythonFrame* frames, uint32_t first, uint32_t count) {
  uint32_t outer = first == 0 ? 1 : frames[first - 1].position;
  for (uint32_t i = first; i < count; ++i) {
    const bool is_same_call = i != 0 && frames[i].c_avma == frames[i - 1].c_avma && i != first;
    const uint32_t position = is_same_call ? outer : position_of(unwind, frames[i].c_avma);
    if (position == 0 || position < outer) return false;
    frames[i].position = outer = position;
  }
  return true;
}

// Pairs calls of the evaluator with frames that began one, from the innermost on.
void position_by_evaluator(const Python& python, const UnwindContext* unwind, PythonFrame* frames, uint32_t count) {
  uint32_t native = unwind->count;
  uint32_t last = native;
  bool is_paired = false;
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
        is_paired = true;
      } else if (!is_paired) {
        last = unwind->count;
      }
    }
    frames[i].position = last;
    needs_call = frames[i].is_entry;
  }
}

// Both lists, from native_first and python_first on, outermost first.
uint32_t combine(PythonStack* stack, const UnwindContext* unwind, uint32_t native_first, uint32_t python_first) {
  Frame* to = stack->combined;
  uint32_t python = python_first;
  for (uint32_t native = native_first; native <= unwind->count; ++native) {
    for (; python < stack->count && stack->frames[python].position <= native; ++python)
      *to++ = {stack->frames[python].word, 0};
    if (native != unwind->count) *to++ = unwind->frames[native];
  }
  return static_cast<uint32_t>(to - stack->combined);
}

uint32_t truncation_of(const PythonStack& stack, const StackDelta& delta) {
  if (delta.truncation != 0 || !stack.is_cut) return delta.truncation;
  return static_cast<uint32_t>(wire::TruncationCause::kDepth);
}

uint64_t word_of(const Python& python, KnownPages* pages, const PythonFrame& frame, bool* is_broken) {
  const uint32_t code = number_of_code(python, pages, frame.code_avma);
  *is_broken = code == kNoCode;
  uint64_t offset = frame.instruction * python.layout.instruction_scale;
  if (python.layout.instruction_scale == 0) {
    offset = frame.instruction - frame.code_avma - python.layout.code_start;
  } else if (static_cast<int32_t>(frame.instruction) < 0) {
    offset = 0;  // it has not begun
  }
  return wire::pack_python_frame(code, offset >> 31 != 0 ? 0 : static_cast<uint32_t>(offset));
}

}  // namespace

uint64_t python_stack_bytes() { return (sizeof(PythonStack) + 4095) & ~uint64_t{4095}; }

PythonStack* make_python_stack(void* memory) { return static_cast<PythonStack*>(memory); }

void add_python_frames(PythonStack* stack, UnwindContext* unwind, StackDelta* delta) {
  const Python& python = *g_python.load(std::memory_order_acquire);
  stack->pages.look_for_unmaps();
  const uint32_t old_count = stack->count;
  const uint32_t old_native_count = stack->native_count;
  uint32_t python_keep = old_count;
  uint32_t native_keep = delta->keep;
  stack->native_count = unwind->count;
  if (unwind->count != 0 && is_unchanged(python, stack)) {
    if (delta->fresh == 0 && delta->keep == old_native_count) {
      *delta = {old_native_count + old_count, 0, stack->combined, truncation_of(*stack, *delta)};
      return;
    }
  } else {
    uint32_t count = unwind->count != 0 ? read_chain(python, stack) : 0;
    PythonFrame* const fresh = stack->fresh + (wire::kMaxPythonFrames - count);
    python_keep = 0;
    while (python_keep < count && python_keep < old_count && is_same(fresh[python_keep], stack->frames[python_keep]))
      ++python_keep;
    if (python_keep < old_count && stack->frames[python_keep].position < native_keep)
      native_keep = stack->frames[python_keep].position;
    for (uint32_t i = python_keep; i < count; ++i) {
      bool is_broken = false;
      fresh[i].word = word_of(python, &stack->pages, fresh[i], &is_broken);
      if (is_broken) {
        g_control->python_broken.fetch_add(1, std::memory_order_relaxed);
        count = i;
        break;
      }
      stack->frames[i] = fresh[i];
    }
    stack->count = count;
  }
  // Native frames from delta->keep on are new: what stood inside of them may stand elsewhere.
  uint32_t placed = python_keep;
  while (placed != 0 && stack->frames[placed - 1].position > delta->keep) --placed;
  uint32_t old_position = 0;
  if (placed < python_keep) old_position = stack->frames[placed].position;
  if (!position_by_stack(unwind, stack->frames, placed, stack->count)) {
    position_by_evaluator(python, unwind, stack->frames, stack->count);
    placed = 0;
    native_keep = 0;
  } else if (placed < python_keep && old_position < native_keep) {
    native_keep = old_position;
  }
  if (placed < python_keep) python_keep = placed;
  if (python_keep < stack->count && stack->frames[python_keep].position < native_keep)
    native_keep = stack->frames[python_keep].position;
  while (python_keep != 0 && stack->frames[python_keep - 1].position > native_keep) --python_keep;
  const uint32_t keep = native_keep + python_keep;
  const uint32_t fresh_count = combine(stack, unwind, native_keep, python_keep);
  *delta = {keep, fresh_count, stack->combined, truncation_of(*stack, *delta)};
}

}  // namespace heapprof::agent
