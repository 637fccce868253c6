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

// What leads from a frame to its caller besides the return address, where bp plays a part. (unwind.cc has the
// argument.)
enum FrameFlags : uint8_t {
  kNeedsBp = 1,  // the value of bp in this frame decides where an outer frame is
  kBpCell = 2,   // the caller's bp decides so, and this frame's step loaded it from a cell
  kCfaCell = 4,  // this frame's step loaded the CFA from a cell
  kGuessed = 8,  // nothing describes it: its step was that of a frame pointer
};
struct FrameBp {
  uint64_t bp;               // set with kNeedsBp
  const uint64_t* bp_cell;   // set with kBpCell
  const uint64_t* cfa_cell;  // set with kCfaCell
};

// What end_cell points to where no cell ended the stack: it always holds 0.
inline constexpr uint64_t kNoCell = 0;

// What the step of a frame depended on, while its walk is in progress.
struct WalkedFrame {
  uint64_t bp;
  StepRule rule;
};
static_assert(sizeof(WalkedFrame) == 16);

// A program counter that no object holds, as of so many loads.
struct AbsentCode {
  uint64_t pc_avma;
  uint64_t loads;
};

// What the code around a return address says of Go's calls of C (unwind_slow.cc).
struct GoCall {
  uint64_t pc_avma;
  uint8_t g_off;  // above sp there: the goroutine
  uint8_t distance_off;
  bool is_go;
};
inline constexpr size_t kGoCalls = 16;

// A frame of a stack that was too deep, as it was walked last. The stack is known to be as deep as long as this frame
// is there.
struct DeepFrame {
  uint64_t sp;  // in the frame; 0: no such frame
  uint64_t pc_avma;
  uint32_t count;  // of it and the frames around it, at least
};

class UnwindContext {
 public:
  DeepFrame deep;
  uint32_t age;  // until which rules and previous stack are known to hold; 0: there are none
  // The previous stack.
  uint32_t count;
  uint32_t plain_count;      // `count` if return addresses alone verify the stack (is_linked, no flags); else 0
  const uint64_t* end_cell;  // the return address 0 that ended the stack; &kNoCell: the outermost frame's rule ended it
  bool is_linked;            // compact rules lead from each frame to the next, so the stack can be verified
  uint32_t flagged;          // frames that have flags
  uint32_t guessed;          // of them: kGuessed
  uint64_t guessed_at;       // g_loads when that was so
  wire::UnwindCounters* counters;
  UnwindRule uncached;  // the last rule that may not be kept
  KnownStacks stacks;   // memory that a walk may read
  uint64_t g_avma;      // the goroutine that called C last, as its stack proved
  CfiWorkspace workspace;
  GoCall go_calls[kGoCalls];                    // direct mapped by program counter
  AbsentCode absent[kAbsentCodes];              // direct mapped by program counter
  alignas(64) UnwindRule rules[kContextRules];  // direct mapped by program counter
  uint8_t flags[kMaxFrames];                    // FrameFlags; 0 from `count` on
  Frame outside;                                // frames[-1]: ends a search that comes from the inside
  Frame frames[kMaxFrames];                     // outermost first; a walk puts its frames at the end
  FrameBp bps[kMaxFrames];                      // of frames that have flags
  union {
    WalkedFrame walked[kMaxFrames];  // of the frames at the end, the outermost first
    uint64_t pcs[kMaxFrames];        // of a walk from scratch, innermost first
  };
};

extern uint32_t g_max_frames;  // deeper stacks are truncated

inline void count_one(std::atomic<uint64_t>& counter) {
  counter.store(counter.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

// Where a walk is. No more is needed as long as rules are compact.
struct WalkState {
  uint64_t pc_avma;
  uint64_t sp;
  uint64_t bp;
};

// Of a stack of more than kMaxFrames frames, these are recorded: it is walked from scratch at each event, and would
// fill the ring each time. Where the user set a smaller limit, all up to that one are.
inline constexpr uint32_t kFramesOfTooDeep = 1024;

// A stack that is being walked from scratch, innermost first.
struct StackBuffer {
  uint64_t* pcs;
  uint32_t count;
  uint32_t limit;
  uint32_t truncation;  // 0, or a wire::TruncationCause
  // Of a walk by walk_whole: where it was behind the frames that are recorded of a stack that is too deep; and of how
  // many frames the stack is known to be, as it has met UnwindContext::deep. 0: not, or not yet.
  WalkState behind_recorded = {0, 0, 0};
  uint32_t known_count = 0;

  bool is_full() const { return count >= limit; }
};

// The slot of context->rules in which the rule for pc_avma is, if it is there. This is on the chain of dependent loads
// that a walk is: two shifts side by side give a byte offset with two steps less than a multiplication does (4.1
// instead of 5.3 ns a frame).
inline UnwindRule* rule_slot(UnwindContext* context, uint64_t pc_avma) {
  static_assert(sizeof(UnwindRule) == 16);
  const uint64_t offset_bytes = (pc_avma << 4 ^ pc_avma >> (kRuleIndexBits - 4)) & (kContextRules - 1) << 4;
  return reinterpret_cast<UnwindRule*>(reinterpret_cast<char*>(context->rules) + offset_bytes);
}

// The rule for pc_avma where context->rules does not have it. Valid until the next call.
const UnwindRule* find_rule_slow(UnwindContext* context, uint64_t pc_avma);
// Whether an address that no object holds may be believed to be so until the loader allocates.
bool is_absence_certain();

// Empties a slot of context->rules. A handler may jump out of it.
void forget_rule(UnwindRule* slot);

// Steps over a frame whose rule is kSpecial; its program counter is in the buffer already.
enum class SlowStep : uint8_t {
  kGoOn,            // *state is the caller's
  kEnd,             // the stack ends, or what can be walked of it does: StackBuffer::truncation says which
  kNeedsRegisters,  // only a walk with every register can do it (walk_with_all_registers)
};
SlowStep step_special(UnwindContext* context, WalkState* state, uint32_t* jumps, StackBuffer* buffer);

// Goes on from a frame that is not described to its caller, by the frame pointer. False: it leads to nothing that can
// be a caller.
bool guess_step(UnwindContext* context, WalkState* state);
inline constexpr uint32_t kMaxGuessedFrames = 1024;  // in a row

// Steps over a frame that is not described, and over others like it, by frame pointers; their program counters are
// appended. False if the frame pointers do not lead back to described code. Either way the stack is marked as a guess.
bool step_by_frame_pointer(UnwindContext* context, WalkState* state, StackBuffer* buffer);

// Walks the whole stack by nothing but frame pointers (--unwinder=fp).
void walk_frame_pointers(UnwindContext* context, const StartFrame& start, StackBuffer* buffer);

// Walks from scratch by rules of every kind. `state` is that of the frame after those in the buffer.
void walk_whole(UnwindContext* context, WalkState state, const StartFrame& start, StackBuffer* buffer);

// Walks the whole stack by the interpreter. It begins in our own frames: only they know the registers that calls
// preserve.
void walk_with_all_registers(UnwindContext* context, const StartFrame& start, StackBuffer* buffer);

}  // namespace heapprof::agent
