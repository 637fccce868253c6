// agent/python/frame_chain.h: iterates over the calling thread's own Python frames, innermost first.
//
// Guarantees
//  - Only readable memory is read: a pointer to unreadable memory, or to an impossible frame, ends the chain, and
//    is_broken() says so. A cyclic chain ends where its reader stops.
// Context:  inside hooks. Only the thread itself changes its chain, so it does not change during a hook. If a signal
//           interrupted a change, the chain is what the interpreter itself would find there.
// Trust:    the layout says what the words of a frame mean; the program may have written anything there.
#pragma once

#include "agent/process/known_pages.h"
#include "agent/python/interpreter.h"

#include <cstdint>

namespace heapprof::agent {

struct ChainFrame {
  uint64_t frame_avma;
  uint64_t code_avma;     // 0: a shim, which is on the C stack and begins a call of the evaluator
  uint64_t instruction;   // an index, or an address (PythonLayout::instruction_scale)
  uint64_t outside_avma;  // the next frame further out
  uint64_t c_avma;        // on the C stack, within the evaluator's call; 0: unknown, or that of the next shim
  bool is_entry;          // the evaluator's call began with this frame
};

class FrameChain {
 public:
  FrameChain(const Python& python, KnownPages* pages) : layout_(python.layout), pages_(*pages) {
    const auto thread_state = python.thread_state.load(std::memory_order_acquire);  // (P)
    const uint64_t thread = thread_state != nullptr ? thread_state() : 0;
    if (thread == 0) return;
    const bool has_c_frames = layout_.thread_c_frame != kNoField;
    if (has_c_frames) {
      if (!can_read(thread + layout_.thread_c_frame, sizeof(uint64_t))) return;
      c_frame_ = load(thread + layout_.thread_c_frame);
      if (!can_read(c_frame_, kCFrameBytes)) return;
    }
    const bool has_top = layout_.thread_top != kNoField;
    if (has_top && !can_read(thread + layout_.thread_top, sizeof(uint64_t))) return;
    frame_ = has_top ? load(thread + layout_.thread_top) : load(c_frame_ + layout_.c_frame_top);
  }

  bool is_broken() const { return is_broken_; }
  uint64_t next_avma() const { return frame_; }  // 0: no more frames
  // The C-stack address of the evaluator's call that runs the next frame; 0: unknown, or given by the frames
  // themselves.
  uint64_t next_c_avma() const { return c_frame_; }

  // Reads the next frame; false: no more frames.
  bool next(ChainFrame* found) {
    if (frame_ == 0) return false;
    if (frame_ % sizeof(uint64_t) != 0 || !can_read(frame_, layout_.frame_bytes)) return fail();
    *found = {frame_,
              load(frame_ + layout_.frame_code) & ~uint64_t{7},
              instruction_of(layout_, frame_),
              load(frame_ + layout_.frame_previous),
              0,
              layout_.entry == PythonEntry::kEachFrame};
    frame_ = found->outside_avma;
    if (layout_.entry == PythonEntry::kShim) {
      if (load_byte(found->frame_avma + layout_.frame_owner) < kFirstShimOwner) return true;
      found->code_avma = 0;
      found->c_avma = found->frame_avma;
    } else {
      if (layout_.entry == PythonEntry::kFlag)
        found->is_entry = load_byte(found->frame_avma + layout_.frame_is_entry) != 0;
      take_c_frame(found);
    }
    return true;
  }

  // True if the frame is unchanged. It can be read without a check, as it was read before. pre: no page was unmapped
  // since.
  static bool is_same(const PythonLayout& layout, const ChainFrame& frame) {
    const uint64_t at = frame.frame_avma;
    return load(at + layout.frame_previous) == frame.outside_avma &&
           (frame.code_avma == 0 || ((load(at + layout.frame_code) & ~uint64_t{7}) == frame.code_avma &&
                                     instruction_of(layout, at) == frame.instruction));
  }

 private:
  static constexpr uint64_t kCFrameBytes = 24;
  // A frame whose owner has this value or a higher one is not of a program's function: 3.12 and 3.13 have only the
  // shim, 3.14 a second kind, 3.15 one that ends a thread's chain.
  static constexpr unsigned char kFirstShimOwner = 3;

  static uint64_t load(uint64_t avma) { return *reinterpret_cast<const volatile uint64_t*>(avma); }
  static unsigned char load_byte(uint64_t avma) { return *reinterpret_cast<const volatile unsigned char*>(avma); }
  static uint64_t instruction_of(const PythonLayout& layout, uint64_t frame) {
    if (layout.instruction_scale == 0) return load(frame + layout.frame_instruction);
    return *reinterpret_cast<const volatile uint32_t*>(frame + layout.frame_instruction);
  }

  bool can_read(uint64_t avma, uint64_t bytes) { return pages_.holds(avma, bytes) || fail(); }
  bool fail() {
    is_broken_ = true;
    frame_ = 0;
    return false;
  }

  void take_c_frame(ChainFrame* found) {
    if (layout_.thread_c_frame == kNoField) return;
    found->c_avma = c_frame_;
    if (!found->is_entry || c_frame_ == 0) return;
    c_frame_ = load(c_frame_ + layout_.c_frame_previous);
    if (c_frame_ != 0 && !pages_.holds(c_frame_, kCFrameBytes)) c_frame_ = 0;
  }

  const PythonLayout& layout_;
  KnownPages& pages_;
  uint64_t frame_ = 0;
  uint64_t c_frame_ = 0;
  bool is_broken_ = false;
};

}  // namespace heapprof::agent
