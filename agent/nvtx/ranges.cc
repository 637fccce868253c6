// agent/nvtx/ranges.cc: a thread's context keeps its pushed ranges: a pop has no id that would say which range it ends.
//
// A level is taken before the range's begin is recorded, and released before its end is. So a signal handler in between
// that pushes and pops equally often leaves everything unchanged.
#include "agent/nvtx/ranges.h"

#include "agent/record/record_fast.h"
#include "agent/start/start.h"

namespace heapprof::agent::nvtx {

namespace {

// A pushed range in a word: its domain, its level there, the id of its scope (0: not recorded).
constexpr uint32_t kLevelBits = 14;
constexpr uint32_t kDomainAt = wire::kScopeIdBits + kLevelBits;
static_assert(kMostPushed <= 1u << kLevelBits);

uint64_t pack(uint32_t domain, uint32_t level, uint64_t id) {
  return static_cast<uint64_t>(domain) << kDomainAt | static_cast<uint64_t>(level) << wire::kScopeIdBits | id;
}
uint32_t domain_in(uint64_t range) { return static_cast<uint32_t>(range >> kDomainAt); }
uint32_t level_in(uint64_t range) {
  return static_cast<uint32_t>(range >> wire::kScopeIdBits & ((1u << kLevelBits) - 1));
}
uint64_t id_in(uint64_t range) { return range & ((1ull << wire::kScopeIdBits) - 1); }

// A range's id that the program gets contains the session's number: a forked child is not in any of its parent's
// ranges.
constexpr uint64_t kSessions = 1ull << (64 - wire::kScopeIdBits);
uint64_t session_bits() { return (g_session % kSessions) << wire::kScopeIdBits; }

// The innermost range of that domain, counted from 1; 0: no range.
uint32_t find_pushed(const Context* context, uint32_t domain) {
  for (uint32_t i = context->pushed < kMostPushed ? context->pushed : kMostPushed; i > 0; --i) {
    if (domain_in(context->pushed_ranges[i - 1]) == domain) return i;
  }
  return 0;
}

void record_end(uint64_t id, HookFrame hook_frame) {
  if (id != 0 && HEAPPROF_LIKELY(record_scope_fast<wire::ScopeOperation::kEndOnly>(0, id, hook_frame) != 0)) return;
  record_scope(wire::ScopeOperation::kEndOnly, 0, id, hook_frame);
}

}  // namespace

bool is_on() {
  if (g_fork_page.state == AgentState::kUnknown && (t_flags & kThreadInside) == 0) start_session();
  return HEAPPROF_LIKELY(g_fork_page.state == AgentState::kOn) && g_control->nvtx != 0;
}

int push(uint32_t domain, uint32_t name, uint64_t items, HookFrame hook_frame) {
  Context* const context = own_context(hook_frame);
  if (context == nullptr) return kNoTracking;
  const uint32_t outer = find_pushed(context, domain);
  const uint32_t level = outer == 0 ? 0 : level_in(context->pushed_ranges[outer - 1]) + 1;
  const uint32_t slot = context->pushed++;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (slot >= kMostPushed) return static_cast<int>(slot);
  context->pushed_ranges[slot] = pack(domain, level, 0);
  uint64_t id = record_scope_fast<wire::ScopeOperation::kBegin>(name, 0, hook_frame);
  if (HEAPPROF_UNLIKELY(id == 0)) id = record_scope(wire::ScopeOperation::kBegin, name, 0, hook_frame);
  context->pushed_ranges[slot] = pack(domain, level, id);
  if (items != 0 && id != 0) record_scope_items(id, items, hook_frame);
  return static_cast<int>(level);
}

int pop(uint32_t domain, HookFrame hook_frame) {
  Context* const context = own_context(hook_frame);
  if (context == nullptr) return kNoTracking;
  if (HEAPPROF_UNLIKELY(context->pushed > kMostPushed)) return static_cast<int>(--context->pushed);
  const uint32_t found = find_pushed(context, domain);
  if (found == 0) {
    record_end(0, hook_frame);
    return kFailed;
  }
  const uint64_t range = context->pushed_ranges[found - 1];
  for (uint32_t i = found; i < context->pushed; ++i) context->pushed_ranges[i - 1] = context->pushed_ranges[i];
  std::atomic_signal_fence(std::memory_order_seq_cst);
  --context->pushed;
  if (id_in(range) != 0) record_end(id_in(range), hook_frame);
  return static_cast<int>(level_in(range));
}

uint64_t start(uint32_t name, uint64_t items, HookFrame hook_frame) {
  const uint64_t id = record_scope(wire::ScopeOperation::kBeginApart, name, 0, hook_frame);
  if (id == 0) return 0;
  if (items != 0) record_scope_items(id, items, hook_frame);
  return session_bits() | id;
}

void end(uint64_t range, HookFrame hook_frame) {
  if (range != 0 && range - id_in(range) != session_bits()) return;
  record_end(id_in(range), hook_frame);
}

void mark(uint32_t name, HookFrame hook_frame) { record_scope(wire::ScopeOperation::kMark, name, 0, hook_frame); }

}  // namespace heapprof::agent::nvtx
