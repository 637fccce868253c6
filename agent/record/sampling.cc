// agent/record/sampling.cc: counts blocks down, and chooses those on which a sampling point falls.
//
// A block that is not chosen needs no event: the guard is read but not set. So a signal handler that interrupts the
// countdown counts down as well. Each step is one instruction, which a handler finds done or not begun. Nothing here
// may use floating point, as the agent uses no vector registers.
#include "agent/record/sampling.h"

#include "agent/record/record_fast.h"
#include "agent/record/record_parts.h"

namespace heapprof::agent {

namespace {

// Takes the bytes of a block off the countdown. False: a point falls on the block.
[[gnu::always_inline]] inline bool count_down(wire::Countdown* countdown, size_t size_bytes) {
  return !subtract_in_one_step(&countdown->until, size_bytes);
}

uint64_t next_random(Context* context) {
  if (context->random == 0) {
    context->random =
        wire::mix_bits(g_sampling.seed ^ wire::mix_bits(uint64_t{context->ring} << 32 | context->session) ^
                       static_cast<uint64_t>(g_pid));
  }
  return wire::mix_bits(context->random += 0x9e3779b97f4a7c15);
}

// Draws the distance to the next point. Bytes already counted down stay counted.
void draw(Context* context, uint64_t interval_bytes) {
  wire::Countdown& countdown = context->header->countdown;
  const int64_t distance = wire::draw_distance(next_random(context), interval_bytes);
  bool is_replaced = false;
  auto until = static_cast<uint64_t>(countdown.until.load(std::memory_order_relaxed));
  uint64_t granted = countdown.granted.load(std::memory_order_relaxed);
  while (!is_replaced) {
    const uint64_t fresh_granted = granted - until + static_cast<uint64_t>(distance);
    is_replaced =
        replace_pair_in_one_step(&countdown, &until, &granted, static_cast<uint64_t>(distance), fresh_granted);
  }
  context->drawn_interval = interval_bytes;
}

// Decides whether a block that begins in this event is recorded, and by which interval; 0: every block is recorded.
// False: it is not recorded.
bool choose(Context* context, const void* block, size_t size_bytes, uint64_t* interval_bytes) {
  const wire::Begins begins = wire::begins_of(recording());
  *interval_bytes = 0;
  if (begins != wire::Begins::kSampled) return begins == wire::Begins::kAll;
  const uint64_t wanted = g_sampling.interval_bytes.load(std::memory_order_relaxed);
  if (context->drawn_interval != wanted) draw(context, wanted);
  wire::Countdown* const countdown = &context->header->countdown;
  const bool is_chosen = !count_down(countdown, size_bytes);
  increment_in_one_step(&countdown->allocations);
  if (!is_chosen) return false;
  *interval_bytes = context->drawn_interval;
  wire::add_chosen(&g_sampling, reinterpret_cast<uint64_t>(block));
  draw(context, wanted);
  return true;
}

// Records a block if it is chosen. Not inlined, so that other blocks pay nothing for it.
[[gnu::noinline]] void record_chosen(wire::RecordType type, const void* block, size_t size_bytes,
                                     HookFrame hook_frame) {
  if (HEAPPROF_UNLIKELY(is_loader(returns_to(hook_frame)))) note_loading();
  Context* context = begin_event(cfa_of(hook_frame));
  if (context == nullptr) return;
  uint64_t interval_bytes = 0;
  if (choose(context, block, size_bytes, &interval_bytes)) {
    record_begun_by(type, context, block, size_bytes, interval_bytes, hook_frame);
  } else if (type == wire::RecordType::kReallocEnd) {
    record_ended(context, wire::RecordType::kReallocFree);
  } else {
    static_cast<void>(is_prepared(context));  // so that the next block takes the fast path
    end_event(context);
  }
}

}  // namespace

void record_sampled(wire::RecordType type, const void* block, size_t size_bytes, HookFrame hook_frame) {
  Context* context = t_context;
  const wire::Begins begins = wire::begins_of(recording());
  const bool is_begin =
      HEAPPROF_LIKELY(type == wire::RecordType::kMalloc) && HEAPPROF_LIKELY(!is_loader(returns_to(hook_frame)));
  // A forked child reads its parent's word until its session begins, which it does with its first block.
  if (is_begin && begins == wire::Begins::kNone && g_fork_page.state != AgentState::kUnknown) return;
  const bool is_plain =
      is_begin && HEAPPROF_LIKELY(begins == wire::Begins::kSampled) && HEAPPROF_LIKELY(context != nullptr) &&
      HEAPPROF_LIKELY(context->guard == 0) &&
      HEAPPROF_LIKELY(context->ready_for == g_fork_page.generation.load(std::memory_order_relaxed)) &&
      HEAPPROF_LIKELY(context->drawn_interval == g_sampling.interval_bytes.load(std::memory_order_relaxed));
  if (HEAPPROF_LIKELY(is_plain)) {
    wire::Countdown* const countdown = &context->header->countdown;
    if (HEAPPROF_LIKELY(count_down(countdown, size_bytes))) return increment_in_one_step(&countdown->allocations);
    add_in_one_step(&countdown->until, size_bytes);
  }
  record_chosen(type, block, size_bytes, hook_frame);
}

}  // namespace heapprof::agent
