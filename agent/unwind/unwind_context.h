// agent/unwind/unwind_context.h: the memory of one thread's unwinder, shared by unwind.cc (fast) and unwind_slow.cc.
#pragma once

#include "agent/unwind/cfi_program.h"
#include "agent/unwind/stack_bounds.h"
#include "agent/unwind/unwind.h"
#include "agent/unwind/unwind_rule.h"

#include <atomic>
#include <cstdint>

namespace heapprof::agent {

inline constexpr uint32_t kRuleIndexBits = 13;
inline constexpr uint32_t kContextRules = 1u << kRuleIndexBits;
inline constexpr uint32_t kAbsentCodes = 1024;

// What the step from a frame to its caller depends on besides the return address, if bp is involved. (unwind.cc
// explains why these suffice.)
enum FrameFlags : uint8_t {
  kNeedsBp = 1,  // the value of bp in this frame decides where an outer frame is
  // this frame's step loaded the caller's bp from a stack slot, and an outer frame's position depends on that bp
  kBpSlot = 2,
  kCfaSlot = 4,  // this frame's step loaded the CFA from a stack slot
  kGuessed = 8,  // the code has no unwind information: the step followed the frame pointer
};
struct FrameBp {
  uint64_t bp;               // set with kNeedsBp, and if the next frame inwards is guessed
  const uint64_t* bp_slot;   // set with kBpSlot
  const uint64_t* cfa_slot;  // set with kCfaSlot
};

// What end_slot points to if no stack slot ended the stack: it always holds 0.
inline constexpr uint64_t kNoSlot = 0;

// What the step of a frame depended on. Needed only while the walk is in progress.
struct WalkedFrame {
  uint64_t bp;
  StepRule rule;
};
static_assert(sizeof(WalkedFrame) == 16);

// A program counter that was in no object when g_loads was `loads`.
struct AbsentCode {
  uint64_t pc_avma;
  uint64_t loads;
};

// Whether the code around a return address is Go's call of C, and where that code stores its data (unwind_slow.cc).
struct GoCall {
  uint64_t pc_avma;
  uint8_t g_off;  // offset from sp to the slot that stores the goroutine (g)
  uint8_t distance_off;
  bool is_go;
};
inline constexpr size_t kGoCalls = 16;

// A frame of a stack that was too deep when it was last walked. While this frame is on the stack, the stack is known to
// have at least `count` frames from it outwards.
struct DeepFrame {
  uint64_t sp;  // in the frame; 0: no such frame
  uint64_t pc_avma;
  uint32_t count;  // a lower bound for the number of frames from this one outwards
};

class UnwindContext {
 public:
  DeepFrame deep;
  uint32_t
      generation;  // rules and previous stack are valid up to this generation; 0: there are no rules and no stack yet
  // The previous stack.
  uint32_t count;
  uint32_t plain_count;  // `count` if return addresses alone verify the stack (is_linked, no flags); else 0
  // slot of the return address 0 that ended the stack; &kNoSlot: the outermost frame's rule ended it
  const uint64_t* end_slot;
  bool is_linked;       // compact rules lead from each frame to the next, so the stack can be verified
  uint32_t flagged;     // number of frames that have flags
  uint32_t guessed;     // number of frames that have kGuessed
  uint64_t guessed_at;  // value of g_loads when `guessed` was last checked
  wire::UnwindCounters* counters;
  UnwindRule uncached;  // the last rule that may not be cached
  KnownStacks stacks;   // memory that a walk may read
  uint64_t g_avma;      // the goroutine that last called C, once its stack bounds were verified
  CfiWorkspace workspace;
  GoCall go_calls[kGoCalls];                    // direct mapped by program counter
  AbsentCode absent[kAbsentCodes];              // direct mapped by program counter
  alignas(64) UnwindRule rules[kContextRules];  // direct mapped by program counter
  uint8_t flags[kMaxFrames];                    // FrameFlags; 0 from `count` on
  // frames[-1]: a sentinel that ends a search from the innermost frame outwards
  Frame outside;
  Frame frames[kMaxFrames];  // outermost first; a walk puts its frames at the end
  FrameBp bps[kMaxFrames];   // for frames that have flags
  union {
    WalkedFrame walked[kMaxFrames];  // for the frames at the end, outermost first
    uint64_t pcs[kMaxFrames];        // for a walk from scratch, innermost first
  };
};

extern uint32_t g_max_frames;  // deeper stacks are truncated

inline void count_one(std::atomic<uint64_t>& counter) {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

// The state of a walk. Compact rules need nothing else.
struct WalkState {
  uint64_t pc_avma;
  uint64_t sp;
  uint64_t bp;
  [[no_unique_address]] ReturnSlot slot = {};  // held pc_avma; not known in the hook's caller

  uint64_t return_avma() const { return slot_avma(slot, sp); }  // of the slot
};

// The number of frames that are recorded if a stack has more than kMaxFrames frames. Such a stack is walked from
// scratch at each event, so all of its frames would fill the ring each time. If the user set a smaller limit, all
// frames up to that limit are recorded.
inline constexpr uint32_t kFramesOfTooDeep = 1024;

// A stack that is being walked from scratch, innermost first.
struct StackBuffer {
  uint64_t* pcs;
  uint32_t count;
  uint32_t limit;
  uint32_t truncation;  // 0, or a wire::TruncationCause
  // walk_whole sets these two if the stack is too deep. behind_recorded: the state of the walk after the recorded
  // frames. known_count: how many frames the stack is known to have; 0 until the walk meets UnwindContext::deep.
  WalkState behind_recorded = {0, 0, 0};
  uint32_t known_count = 0;

  bool is_full() const { return count >= limit; }
};

// The slot of context->rules for the rule of pc_avma; it may hold another rule. This is part of a walk's chain of
// dependent loads: two parallel shifts yield a byte offset in two steps less than a multiplication (4.1 instead of 5.3
// ns a frame).
inline UnwindRule* rule_slot(UnwindContext* context, uint64_t pc_avma) {
  static_assert(sizeof(UnwindRule) == 16);
  const uint64_t offset_bytes = (pc_avma << 4 ^ pc_avma >> (kRuleIndexBits - 4)) & (kContextRules - 1) << 4;
  return reinterpret_cast<UnwindRule*>(reinterpret_cast<char*>(context->rules) + offset_bytes);
}

// The rule for pc_avma if context->rules does not have it. Valid until the next call.
const UnwindRule* find_rule_slow(UnwindContext* context, uint64_t pc_avma);
// True if the result "no object holds the address" may be remembered until the loader allocates.
bool is_absence_certain();

// Empties a slot of context->rules. A handler may jump out of this function.
void forget_rule(UnwindRule* slot);

// Steps over a frame whose rule is kSpecial; its program counter is in the buffer already.
enum class SlowStep : uint8_t {
  kGoOn,            // *state is the caller's
  kEnd,             // the stack ends, or its walkable part does: StackBuffer::truncation says which
  kNeedsRegisters,  // only walk_with_all_registers can do it
};
SlowStep step_special(UnwindContext* context, WalkState* state, uint32_t* jumps, StackBuffer* buffer);

// Steps from a frame without unwind information to its caller by the frame pointer. False: the result cannot be a
// caller.
bool guess_step(UnwindContext* context, WalkState* state);
inline constexpr uint32_t kMaxGuessedFrames = 1024;  // in a row

// Steps by frame pointers over a frame without unwind information, and over further such frames after it. Appends their
// program counters. Returns false if the frame pointers do not lead back to described code. Either way the stack is
// marked as a guess.
bool step_by_frame_pointer(UnwindContext* context, WalkState* state, StackBuffer* buffer);

// Walks the whole stack by frame pointers alone (--unwinder=fp).
void walk_frame_pointers(UnwindContext* context, const StartFrame& start, StackBuffer* buffer);

// Walks from scratch by rules of every kind. `state` belongs to the frame after those in the buffer.
void walk_whole(UnwindContext* context, WalkState state, const StartFrame& start, StackBuffer* buffer);

// Walks the whole stack with the interpreter. The walk begins in the agent's own frames, because only there are the
// callee-saved registers known.
void walk_with_all_registers(UnwindContext* context, const StartFrame& start, StackBuffer* buffer);

}  // namespace heapprof::agent
