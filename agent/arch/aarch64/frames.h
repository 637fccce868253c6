// agent/arch/aarch64/frames.h: what a call leaves on the stack: a frame of the agent's own code, and where a return
// address lies in others.
//
// A call leaves the return address in a register (x30), and the called function saves it where it likes: with the
// caller's frame pointer below it, as a frame record, if it keeps frame pointers.
#pragma once

#include <cstdint>

namespace heapprof::agent {

inline constexpr bool kSignsReturns = true;
// With pointer authentication a saved return address has a signature in the bits that an address does not use. Returns
// the address. (Without it the instruction does nothing.)
inline uint64_t without_signature(uint64_t return_avma) {
  register uint64_t x30 asm("x30") = return_avma;
  asm("hint #7" : "+r"(x30));  // xpaclri
  return x30;
}

// True for call frame instructions that say whether the return address is signed: DW_CFA_AARCH64_negate_ra_state, and
// the same with the program counter.
inline bool toggles_signature(uint8_t code) { return code == 0x2d || code == 0x2c; }

// ---- A hook's own frame (built with -fno-omit-frame-pointer), as it is when the hook begins ----
// A hook may jump to the function that records: its frame is gone then, so the words are copied from it.

struct HookFrame {
  uint64_t bp;  // the caller's
  uint64_t return_avma;
  uint64_t cfa;
};
inline HookFrame make_hook_frame(const void* record, const void* cfa) {
  const auto* const words = static_cast<const uint64_t*>(record);
  return {words[0], without_signature(words[1]), reinterpret_cast<uint64_t>(cfa)};
}
#define HEAPPROF_HOOK_FRAME() heapprof::agent::make_hook_frame(__builtin_frame_address(0), __builtin_dwarf_cfa())
inline uint64_t bp_behind(const HookFrame& hook_frame) { return hook_frame.bp; }
inline uint64_t returns_to(const HookFrame& hook_frame) { return hook_frame.return_avma; }
// The caller's stack pointer after the return.
inline uint64_t cfa_of(const HookFrame& hook_frame) { return hook_frame.cfa; }

// The frame of the hook that called the function of this frame is not known here: its record says nothing of its CFA.
inline HookFrame hook_behind(const HookFrame& frame) { return frame; }

// ---- Frames of other code ----

// Where the return address to a frame lies: in the frame of the function that it called. (Aligned so that the size of a
// Frame is a power of two: unwind/unwind_fast.h.)
struct alignas(16) ReturnSlot {
  uint64_t avma;
  bool operator==(const ReturnSlot&) const = default;
};
inline uint64_t slot_avma(ReturnSlot slot, uint64_t /*sp*/) { return slot.avma; }
// A frame record lies anywhere in its frame.
inline constexpr bool kIsRecordAtFrameEnd = false;
// The slot of its return address.
inline ReturnSlot record_slot(uint64_t bp) { return {bp + 8}; }
inline uint64_t load_return(uint64_t at_avma) { return without_signature(*reinterpret_cast<const uint64_t*>(at_avma)); }

// ---- What a function saves, as a rule's `saved` (unwind/unwind_rule.h): twice the offset of the return address from
// the CFA, in words, plus 1 if the word below holds the caller's bp ----

inline constexpr uint32_t kSavedBits = 16;  // enough for every `saved`
inline constexpr int16_t make_saved(int32_t return_offset_words, bool saves_bp) {
  return static_cast<int16_t>(return_offset_words * 2 + (saves_bp ? 1 : 0));
}
inline int32_t return_offset_words(int16_t saved) { return saved >> 1; }
// Where the function saved the caller's bp, in words from the CFA; 0: it did not.
inline int32_t bp_offset_words(int16_t saved) { return (saved & 1) != 0 ? return_offset_words(saved) - 1 : 0; }
inline ReturnSlot return_slot(int16_t saved, uint64_t cfa) {
  return {cfa + static_cast<uint64_t>(int64_t{return_offset_words(saved)} * 8)};
}
// True if the step reads nothing below the frame's sp. It is the CFA - cfa_offset_bytes.
inline bool reads_frame_alone(int16_t saved, int32_t cfa_offset_bytes) {
  const int32_t lowest_words = (saved & 1) != 0 ? return_offset_words(saved) - 1 : return_offset_words(saved);
  return cfa_offset_bytes + 8 * lowest_words >= 0;
}
// True if the return address lies between sp and the CFA.
inline bool holds_return(ReturnSlot slot, uint64_t sp, uint64_t cfa) { return slot.avma - sp < cfa - sp; }

}  // namespace heapprof::agent
