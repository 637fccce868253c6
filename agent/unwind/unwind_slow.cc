// agent/unwind/unwind_slow.cc: handles what cached compact rules cannot: rules that are not cached, special frames,
// undescribed frames.
//
// A special frame usually needs only sp, bp and pc: for a signal frame, sp leads to the interrupted registers; for a
// PLT entry, pc and sp give the CFA. So the interpreter first gets only these three, and the walk then goes on with
// compact rules. If a frame needs another register, the walk begins again with all registers.
#include "agent/process/loaded_object.h"
#include "agent/process/modules.h"
#include "agent/process/own_memory.h"
#include "agent/process/state.h"
#include "agent/unwind/cfi_interpreter.h"
#include "agent/unwind/dwarf_expression.h"
#include "agent/unwind/rule_cache.h"
#include "agent/unwind/unwind_context.h"
#include "agent/unwind/unwind_step.h"
#include "shared/events.h"

#include <string.h>

#include <atomic>

namespace heapprof::agent {

namespace {

// How often a caller's frame may lie below its callee's, as with a signal handler on a stack of its own. A working
// program needs one or two; the limit ends a walk around a cycle of broken frames.
constexpr uint32_t kMaxJumps = 64;
constexpr uint32_t kMaxOwnFrames = 64;  // between this code and a hook's caller
constexpr uint64_t kMaxGuessedFrameBytes = 1u << 20;

void truncate(StackBuffer* buffer, wire::TruncationCause cause) {
  if (buffer->truncation == 0) buffer->truncation = static_cast<uint32_t>(cause);
}

// Translates the result of an interpreter step for the walk: kGoOn only if the step found another frame.
SlowStep judge(Step step, uint64_t pc_avma, bool has_jumped, uint32_t* jumps, StackBuffer* buffer) {
  switch (step) {
    case Step::kDone:
      if (pc_avma == 0) return SlowStep::kEnd;
      if (has_jumped && ++*jumps > kMaxJumps) break;
      return SlowStep::kGoOn;
    case Step::kEndOfStack: return SlowStep::kEnd;
    case Step::kUnknownRegister: return SlowStep::kNeedsRegisters;
    case Step::kNoUnwindInfo: truncate(buffer, wire::TruncationCause::kNoUnwindInfo); return SlowStep::kEnd;
    case Step::kBadFrame: break;
  }
  truncate(buffer, wire::TruncationCause::kBadFrame);
  return SlowStep::kEnd;
}

Registers three_registers(const WalkState& state) {
  Registers registers{};
  registers.set(kRegisterPc, state.pc_avma);
  registers.set(kRegisterSp, state.sp);
  registers.set(kRegisterBp, state.bp);
  return registers;
}

WalkState walk_state_of(const Registers& registers) {
  return {registers.value[kRegisterPc], registers.value[kRegisterSp], registers.value[kRegisterBp]};
}

// True if the rule computes the CFA as sp + offset, and the step reads only memory between sp and the CFA.
bool is_plain(const UnwindRule& rule) {
  return rule.kind == RuleKind::kCfaFromSp && reads_frame_alone(rule.saved, rule.cfa_offset_bytes);
}

// A signal handler may jump out of a walk and never come back. So, at every instant, the rule in a slot must belong to
// the slot's program counter.
void keep_rule(UnwindRule* slot, const UnwindRule& rule) {
  constexpr uint64_t kNoCode = ~uint64_t{0};
  slot->pc_avma = kNoCode;
  std::atomic_signal_fence(std::memory_order_release);
  slot->cfa_offset_bytes = rule.cfa_offset_bytes;
  slot->saved = rule.saved;
  slot->kind = rule.kind;
  slot->is_plain = is_plain(rule);
  std::atomic_signal_fence(std::memory_order_release);
  slot->pc_avma = rule.pc_avma;
}

}  // namespace

void forget_rule(UnwindRule* slot) {
  // keep_rule orders its stores so that the slot is, at every instant, for 0 or for a program counter that is never
  // looked up.
  keep_rule(slot, UnwindRule{});
}

namespace {

// True if the value may be a return address. A value close to the stack pointer is data instead: code without frame
// pointers uses that register for data.
bool can_be_code(uint64_t avma, uint64_t sp) {
  return is_plausible_address(avma) && avma - sp >= kMaxGuessedFrameBytes;
}

// Steps to the caller by the frame pointer. False: bp does not hold a frame pointer.
bool follow_frame_pointer(UnwindContext* context, WalkState* state) {
  if (state->bp - state->sp >= kMaxGuessedFrameBytes || (state->bp & 7) != 0) return false;
  context->stacks.go_to(state->sp);
  if (!context->stacks.reach(state->bp + 16)) return false;
  const auto* frame = reinterpret_cast<const uint64_t*>(state->bp);  // the saved bp, then the return address
  *state = {load_return(state->bp + 8), state->bp + 16, frame[0], record_slot(state->bp)};
  return true;
}

// The stores are ordered so that a handler that jumps out never leaves an entry with the `loads` of another entry.
void keep_absent(AbsentCode* absent, uint64_t pc_avma, uint64_t loads) {
  absent->pc_avma = 0;
  std::atomic_signal_fence(std::memory_order_release);
  absent->loads = loads;
  std::atomic_signal_fence(std::memory_order_release);
  absent->pc_avma = pc_avma;
}

}  // namespace

std::atomic<uint64_t> g_loads{1};

namespace {

// Where a frame record says nothing of its frame's end: finds the caller's stack pointer by the caller's own record,
// which the rule of described code places in its frame. False: the rule does not. Code that is not described, or that
// finds its CFA by bp, needs no sp.
bool find_sp_behind_record(UnwindContext* context, WalkState* state) {
  const UnwindRule* const rule = find_rule(context, state->pc_avma);
  if (rule->kind == RuleKind::kNoUnwindInfo || rule->kind == RuleKind::kEndOfStack ||
      rule->kind == RuleKind::kCfaFromBp)
    return true;
  const int64_t record_words = bp_offset_words(rule->saved);
  if (rule->kind != RuleKind::kCfaFromSp || record_words == 0) return false;
  const uint64_t sp = state->bp - static_cast<uint64_t>(record_words * 8 + rule->cfa_offset_bytes);
  if (sp - state->sp >= kMaxGuessedFrameBytes) return false;
  state->sp = sp;
  return true;
}

}  // namespace

bool guess_step(UnwindContext* context, WalkState* state) {
  if (!follow_frame_pointer(context, state)) return false;
  count_one(context->counters->guessed_frames);
  if (!can_be_code(state->pc_avma, state->sp)) return false;
  return kIsRecordAtFrameEnd || find_sp_behind_record(context, state);
}

// If there are seccomp filters, the list of objects may have been locked. Before glibc 2.35, the list may have changed
// while it was read. In both cases "no object" is remembered for one event only.
bool is_absence_certain() { return !has_filters() && can_tell_loaded(); }

[[gnu::noinline]] const UnwindRule* find_rule_slow(UnwindContext* context, uint64_t pc_avma) {
  AbsentCode* const absent = &context->absent[(pc_avma ^ pc_avma >> 10) % kAbsentCodes];
  const uint64_t loads = g_loads.load(std::memory_order_relaxed);
  if (absent->pc_avma == pc_avma && absent->loads == loads) {
    context->uncached = {{0, 0, RuleKind::kNoUnwindInfo, false}, pc_avma};
    return &context->uncached;
  }
  UnwindRule* slot = rule_slot(context, pc_avma);
  UnwindRule rule;
  if (pc_avma != 0 && find_shared_rule(pc_avma, context->generation, &rule)) {
    count_one(context->counters->shared_rules);
  } else {
    count_one(context->counters->made_rules);
    bool is_cacheable = false;
    rule = make_rule(pc_avma, context->generation, &context->workspace, &is_cacheable);
    if (!is_cacheable) {
      count_one(context->counters->unkept_rules);
      context->uncached = rule;
      if (is_absence_certain()) keep_absent(absent, pc_avma, loads);
      return &context->uncached;
    }
    if (pc_avma != 0) share_rule(rule, context->generation);
  }
  keep_rule(slot, rule);
  return slot;
}

[[gnu::noinline]] SlowStep step_special(UnwindContext* context, WalkState* state, uint32_t* jumps,
                                        StackBuffer* buffer) {
  count_one(context->counters->special_frames);
  Registers registers = three_registers(*state);
  bool has_jumped = false;
  const Step step = step_frame(context->generation, &context->workspace, &registers, &has_jumped);
  *state = walk_state_of(registers);
  return judge(step, state->pc_avma, has_jumped, jumps, buffer);
}

[[gnu::noinline]] bool step_by_frame_pointer(UnwindContext* context, WalkState* state, StackBuffer* buffer) {
  truncate(buffer, wire::TruncationCause::kNoUnwindInfo);
  const uint32_t count_before = buffer->count;
  WalkState guess = *state;
  for (uint32_t i = 0; i < kMaxGuessedFrames && !buffer->is_full(); ++i) {
    if (!guess_step(context, &guess)) break;
    if (find_rule(context, guess.pc_avma)->kind != RuleKind::kNoUnwindInfo) {
      *state = guess;
      return true;
    }
    buffer->pcs[buffer->count++] = guess.pc_avma;
  }
  buffer->count = count_before;  // it reached no described code: discard it
  return false;
}

namespace {

// Checks by the instructions around it whether pc_avma is the return address of Go's runtime.asmcgocall.
GoCall read_go_call(uint64_t pc_avma) {
  unsigned char code[kGoCodeBytes];
  GoCall call{pc_avma, 0, 0, false};
  call.is_go = read_own_memory(code, reinterpret_cast<const void*>(pc_avma - kGoCodeBefore), sizeof code) &&
               is_go_call(code, &call.g_off, &call.distance_off);
  return call;
}

// Go calls C on another stack than the goroutine's. On that stack, runtime.asmcgocall stores the calling goroutine (g),
// and the distance from asmcgocall's return address to the end of the goroutine's stack. g begins with the bounds of
// the goroutine's stack. The bounds must be consistent with the distance, and with the frame pointer, which Go code
// always keeps. If so, the state becomes that of asmcgocall's caller.
// Source: Go's runtime/asm_amd64.s and runtime2.go. pre: an object holds the pc
// Cost:     some µs for a pc or a g that was not looked up before. Go never frees the memory of a g.
bool leave_go_call(UnwindContext* context, WalkState* state) {
  constexpr uint64_t kMostGoStackBytes = 1u << 30;  // runtime.maxstacksize
  constexpr uint64_t kMostCallerBytes = 64u << 10;  // runtime.cgocall's frame
  GoCall& call = context->go_calls[(state->pc_avma ^ state->pc_avma >> 8) % kGoCalls];
  if (call.pc_avma != state->pc_avma) {
    // The stores are ordered so that a handler that jumps out never leaves a pc with the data of another pc's code.
    call.pc_avma = 0;
    std::atomic_signal_fence(std::memory_order_release);
    const GoCall read = read_go_call(state->pc_avma);
    call = {0, read.g_off, read.distance_off, read.is_go};
    std::atomic_signal_fence(std::memory_order_release);
    call.pc_avma = state->pc_avma;
  }
  if (!call.is_go) return false;
  struct Bounds {
    uint64_t start_avma;
    uint64_t end_avma;
  } stack;
  const uint64_t g_avma = load_word(state->sp + call.g_off), distance = load_word(state->sp + call.distance_off);
  if (g_avma == context->g_avma) {
    memcpy(&stack, reinterpret_cast<const void*>(g_avma), sizeof stack);
  } else if (!read_own_memory(&stack, reinterpret_cast<const void*>(g_avma), sizeof stack)) {
    return false;
  }
  const uint64_t size_bytes = stack.end_avma - stack.start_avma;
  const WalkState caller{0, stack.end_avma - distance + 8, state->bp};
  uint64_t pc_avma = 0;
  if (size_bytes > kMostGoStackBytes || distance - 8 > size_bytes || caller.bp - caller.sp > kMostCallerBytes ||
      (caller.bp & 7) != 0)
    return false;
  context->stacks.go_to(caller.sp - 8);
  if (!context->stacks.read(caller.sp - 8, 8, &pc_avma) || !can_be_code(pc_avma, caller.sp)) {
    context->stacks.go_to(state->sp);
    return false;
  }
  context->g_avma = g_avma;
  *state = {pc_avma, caller.sp, caller.bp};
  return true;
}

// Walks a goroutine's stack by frame pointers to its end (false) or to described code (true).
bool walk_goroutine(UnwindContext* context, WalkState* state, StackBuffer* buffer) {
  while (find_rule(context, state->pc_avma)->kind == RuleKind::kNoUnwindInfo) {
    if (buffer->is_full()) {
      truncate(buffer, wire::TruncationCause::kDepth);
      return false;
    }
    buffer->pcs[buffer->count++] = state->pc_avma;
    if (state->bp == 0) return false;  // the outermost frame of a goroutine
    if (!follow_frame_pointer(context, state) || !can_be_code(state->pc_avma, state->sp)) {
      truncate(buffer, wire::TruncationCause::kNoUnwindInfo);
      return false;
    }
  }
  return true;
}

}  // namespace

[[gnu::noinline]] void walk_whole(UnwindContext* context, WalkState state, const StartFrame& start,
                                  StackBuffer* buffer) {
  uint32_t jumps = 0;
  context->stacks.go_to(state.sp);
  while (!buffer->is_full()) {
    if (state.pc_avma == 0) return;
    if (HEAPPROF_UNLIKELY(buffer->count == kFramesOfTooDeep)) buffer->behind_recorded = state;
    if (HEAPPROF_UNLIKELY(state.sp == context->deep.sp && state.pc_avma == context->deep.pc_avma))
      buffer->known_count = buffer->count + context->deep.count;
    if (HEAPPROF_UNLIKELY(buffer->known_count > buffer->limit && buffer->count > kFramesOfTooDeep)) break;
    buffer->pcs[buffer->count++] = state.pc_avma;
    const UnwindRule* rule = find_rule(context, state.pc_avma);
    switch (step(rule, &context->stacks, &state)) {
      case StepResult::kStepped: break;
      case StepResult::kEndOfStack: return;
      case StepResult::kBadFrame: buffer->truncation = static_cast<uint32_t>(wire::TruncationCause::kBadFrame); return;
      case StepResult::kNotCompact:
        if (rule->kind == RuleKind::kNoUnwindInfo) {
          if (rule != &context->uncached && leave_go_call(context, &state)) {
            if (!walk_goroutine(context, &state, buffer)) return;
            break;
          }
          if (!step_by_frame_pointer(context, &state, buffer)) return;
          break;
        }
        switch (step_special(context, &state, &jumps, buffer)) {
          case SlowStep::kGoOn: context->stacks.go_to(state.sp); break;
          case SlowStep::kEnd: return;
          case SlowStep::kNeedsRegisters:
            *buffer = {buffer->pcs, 0, buffer->limit, 0};
            walk_with_all_registers(context, start, buffer);
            return;
        }
        break;
    }
  }
  // A stack of exactly `limit` frames is whole: only the end follows.
  if (state.pc_avma != 0) buffer->truncation = static_cast<uint32_t>(wire::TruncationCause::kDepth);
}

void walk_frame_pointers(UnwindContext* context, const StartFrame& start, StackBuffer* buffer) {
  WalkState state{start.pc_avma, start.sp, start.bp};
  while (!buffer->is_full()) {
    buffer->pcs[buffer->count++] = state.pc_avma;
    if (state.bp == 0) return;  // the ABI's mark of the outermost frame
    if (!follow_frame_pointer(context, &state)) return truncate(buffer, wire::TruncationCause::kBadFrame);
    if (state.pc_avma == 0) return;
    if (!can_be_code(state.pc_avma, state.sp)) return truncate(buffer, wire::TruncationCause::kBadFrame);
  }
  truncate(buffer, wire::TruncationCause::kDepth);
}

[[gnu::noinline]] void walk_with_all_registers(UnwindContext* context, const StartFrame& start, StackBuffer* buffer) {
  count_one(context->counters->register_walks);
  Registers registers;
  read_own_registers(&registers);
  context->stacks.go_to(registers.value[kRegisterSp]);
  bool has_jumped = false;
  for (uint32_t i = 0; registers.value[kRegisterSp] < start.sp; ++i) {
    const Step step = step_frame(context->generation, &context->workspace, &registers, &has_jumped);
    if (step != Step::kDone || has_jumped || i == kMaxOwnFrames)
      return truncate(buffer, wire::TruncationCause::kBadFrame);
  }
  if (registers.value[kRegisterSp] != start.sp || registers.value[kRegisterPc] != start.pc_avma) {
    return truncate(buffer, wire::TruncationCause::kBadFrame);
  }
  uint32_t jumps = 0;
  for (;;) {
    if (buffer->is_full()) return truncate(buffer, wire::TruncationCause::kDepth);
    buffer->pcs[buffer->count++] = registers.value[kRegisterPc];
    const Step step = step_frame(context->generation, &context->workspace, &registers, &has_jumped);
    if (step == Step::kNoUnwindInfo) {
      WalkState state = walk_state_of(registers);
      if (!step_by_frame_pointer(context, &state, buffer)) return;
      registers = three_registers(state);
      continue;
    }
    const SlowStep meaning = judge(step, registers.value[kRegisterPc], has_jumped, &jumps, buffer);
    if (meaning == SlowStep::kNeedsRegisters) return truncate(buffer, wire::TruncationCause::kBadFrame);
    if (meaning == SlowStep::kEnd) return;
    context->stacks.go_to(registers.value[kRegisterSp]);
  }
}

}  // namespace heapprof::agent
