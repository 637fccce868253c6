// agent/arch/x86_64/frames.h: what a call leaves on the stack: a frame of the agent's own code, and where a return
// address lies in others.
#pragma once

#include <cstdint>

namespace heapprof::agent {

// ---- A hook's own frame (built with -fno-omit-frame-pointer): its caller's frame pointer, then the return address
// ----

using HookFrame = const uint64_t*;
#define HEAPPROF_HOOK_FRAME() static_cast<heapprof::agent::HookFrame>(__builtin_frame_address(0))
inline uint64_t bp_behind(HookFrame hook_frame) { return hook_frame[0]; }
inline uint64_t returns_to(HookFrame hook_frame) { return hook_frame[1]; }
// The caller's stack pointer after the return.
inline uint64_t cfa_of(HookFrame hook_frame) { return reinterpret_cast<uint64_t>(hook_frame + 2); }

// The frame of the hook that called the function of this frame. If the frame's link does not point to a place shortly
// above, the caller is not a hook of the agent: then the function's own frame.
inline HookFrame hook_behind(HookFrame frame) {
  constexpr uint64_t kNear = 512;
  const uint64_t here = reinterpret_cast<uint64_t>(frame);
  const uint64_t behind = frame[0];
  const bool is_near = behind % sizeof(uint64_t) == 0 && behind > here && behind - here < kNear;
  return is_near ? reinterpret_cast<HookFrame>(behind) : frame;
}

// ---- Frames of other code ----

inline constexpr bool kSignsReturns = false;
inline uint64_t without_signature(uint64_t return_avma) { return return_avma; }
// True for call frame instructions that say whether the return address is signed.
inline bool toggles_signature(uint8_t /*code*/) { return false; }

// Where the return address to a frame lies. A call pushes it, so it is the word below the frame's stack pointer.
struct ReturnSlot {
  bool operator==(const ReturnSlot&) const = default;
};
inline uint64_t slot_avma(ReturnSlot, uint64_t sp) { return sp - 8; }
// A saved frame pointer and the return address behind it are the frame's last words.
inline constexpr bool kIsRecordAtFrameEnd = true;
// The slot of that return address.
inline ReturnSlot record_slot(uint64_t /*bp*/) { return {}; }
inline uint64_t load_return(uint64_t at_avma) { return *reinterpret_cast<const uint64_t*>(at_avma); }

// ---- What a function saves, as a rule's `saved` (unwind/unwind_rule.h): the caller's bp, in words from the CFA; 0: it
// saves none ----

inline constexpr uint32_t kSavedBits = 8;  // enough for every `saved`
inline int32_t bp_offset_words(int16_t saved) { return saved; }
inline ReturnSlot return_slot(int16_t, uint64_t /*cfa*/) { return {}; }
// True if the step reads nothing below the frame's sp. It is the CFA - cfa_offset_bytes.
inline bool reads_frame_alone(int16_t saved, int32_t cfa_offset_bytes) {
  return saved <= 0 && cfa_offset_bytes + 8 * int32_t{saved} >= 0;
}
// True if the return address lies between sp and the CFA.
inline bool holds_return(ReturnSlot, uint64_t /*sp*/, uint64_t /*cfa*/) { return true; }

}  // namespace heapprof::agent
