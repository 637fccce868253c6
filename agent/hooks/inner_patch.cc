// agent/hooks/inner_patch.cc: carries out the plan that inner.h describes.
//
// For each function there is a thunk in pages near the executable's code: an entry that says which function was called
// and jumps to heapprof_inner, and after it the function's first instructions, relocated. In their old place is a jump
// to the thunk.
//
// All of it is tried beforehand in copies of the process: first each allocator as it is, then all of them hooked.
#include "agent/hooks/allocator_evidence.h"
#include "agent/hooks/hook.h"
#include "agent/hooks/inner.h"
#include "agent/libc/vector_state.h"
#include "agent/process/arena.h"
#include "agent/process/copied_process.h"
#include "agent/process/loaded_object.h"
#include "agent/process/own_pages.h"

#include <fcntl.h>
#include <string.h>

namespace heapprof::agent {

namespace {

using Kind = wire::AllocatorKind;
using Role = wire::AllocatorRole;
using wire::InnerFunction;
using wire::InnerState;

constexpr size_t kParameters = wire::kAllocatorParameters;
constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kThunkBytes = 96;
constexpr uint64_t kHeadBytes = 64;  // before the first thunk: the address that all entries jump to
static_assert(kInnerEntryBytes + wire::kMostMovedBytes <= kThunkBytes);
constexpr uint64_t kReach = (1ull << 31) - (1ull << 24);  // of a jump, with what its ends may differ by

struct Plan {
  const wire::InnerPlan* head;
  const InnerFunction* functions;
  const wire::InnerRange* ranges;
  uint64_t bias;

  bool is_left_out_group(uint32_t group) const { return group >= 32 || ((passed | doubted) >> group & 1) != 0; }
  bool is_left_out(const InnerFunction& function) const { return is_left_out_group(function.group); }
  uint64_t patch_avma(const InnerFunction& function) const { return bias + function.patch_svma; }
  uint32_t passed = 0;   // bits of the groups that get their blocks from hooked functions
  uint32_t doubted = 0;  // bits of the groups that did not behave as an allocator
};

// How many threads the process has: /proc/self/task has as many folders. 0: unknown.
uint64_t count_threads() {
  struct stat_buffer {  // the kernel's struct stat
    uint64_t device, inode, links;
    uint64_t others[15];
  } facts{};
  const long result = raw_syscall(SYS_newfstatat, AT_FDCWD, reinterpret_cast<long>("/proc/self/task"),
                                  reinterpret_cast<long>(&facts), 0);
  if (!is_error(result)) return facts.links > 2 ? facts.links - 2 : 0;
  return g_single_threaded != nullptr && *g_single_threaded != 0 ? 1 : 0;
}

// ---- Trying ----

constexpr uint32_t kMostGroups = 32;  // only these have a bit in the masks

TriedFunction g_tried[wire::kMostInnerFunctions];  // not on the stack, which may be small

uint32_t collect_group(const Plan& plan, uint32_t group) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < plan.head->function_count; ++i) {
    const InnerFunction& function = plan.functions[i];
    if (function.group == group)
      g_tried[count++] = {function.what, function.is_small != 0, plan.bias + function.patch_svma};
  }
  return count;
}

struct GroupTrial {
  uint32_t count;  // in g_tried
  bool is_asking;
  bool is_allocator;
};
void try_group(void* result) {
  auto* const trial = static_cast<GroupTrial*>(result);
  trial->is_asking = asks_others(g_tried, trial->count);
  trial->is_allocator = !trial->is_asking && behaves_as_allocator(g_tried, trial->count);
}

// Finds out which groups are left out, and why. False: no copy of the process could be made for the trial.
bool try_groups(Plan* plan) {
  for (uint32_t group = 0; group < kMostGroups; ++group) {
    GroupTrial trial{collect_group(*plan, group), false, false};
    if (trial.count == 0) continue;
    const CopyEnd end = run_in_copy(try_group, &trial, sizeof trial);
    if (end == CopyEnd::kNotMade) return false;
    if (end == CopyEnd::kDone && trial.is_asking) {
      plan->passed |= 1u << group;
    } else if (end == CopyEnd::kDied || !trial.is_allocator) {
      plan->doubted |= 1u << group;
    }
  }
  return true;
}

bool has_moved_calls(const Plan& plan) {
  for (uint32_t i = 0; i < plan.head->function_count; ++i) {
    if (plan.functions[i].pushes_return != 0) return true;
  }
  return false;
}

// The protection, as mmap has it, of the pages of code with these bytes; 0: they are not code, or cannot be read.
int protection_of(uint64_t start_avma, uint64_t bytes) {
  const ProgramHeaders headers = headers_of_object(first_object());
  for (uint32_t i = 0; i < headers.count; ++i) {
    const ElfW(Phdr)& part = headers.first[i];
    const uint64_t offset = start_avma - (first_object()->l_addr + part.p_vaddr);
    if (part.p_type != PT_LOAD || offset >= part.p_filesz || part.p_filesz - offset < bytes) continue;
    if ((part.p_flags & (PF_R | PF_X)) != (PF_R | PF_X)) return 0;
    return PROT_READ | PROT_EXEC | ((part.p_flags & PF_W) != 0 ? PROT_WRITE : 0);
  }
  return 0;
}

bool has_expected_code(const Plan& plan) {
  for (uint32_t i = 0; i < plan.head->function_count; ++i) {
    const InnerFunction& function = plan.functions[i];
    if (protection_of(plan.patch_avma(function), function.patch_bytes) == 0) return false;
    if (memcmp(reinterpret_cast<const void*>(plan.patch_avma(function)), function.original, function.patch_bytes) != 0)
      return false;
  }
  return true;
}

// Maps free pages within reach of the code. The kernel takes the address as a hint. If another mapping is there, it
// maps pages elsewhere, which are unmapped again.
unsigned char* map_near(uint64_t start_avma, uint64_t end_avma, uint64_t bytes) {
  constexpr uint64_t kStep = 16 << 20;
  constexpr uint64_t kLowest = 1 << 20;
  const auto try_at = [&](uint64_t wish_avma) -> unsigned char* {
    const long mapped = raw_syscall(SYS_mmap, static_cast<long>(wish_avma), static_cast<long>(bytes),
                                    PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (is_error(mapped)) return nullptr;
    const auto at_avma = static_cast<uint64_t>(mapped);
    const uint64_t low_avma = at_avma < start_avma ? at_avma : start_avma;
    const uint64_t high_avma = at_avma + bytes > end_avma ? at_avma + bytes : end_avma;
    if (high_avma - low_avma < kReach) return reinterpret_cast<unsigned char*>(mapped);
    sys_munmap(reinterpret_cast<void*>(mapped), bytes);
    return nullptr;
  };
  const uint64_t below = (start_avma & ~(kPageBytes - 1)) - bytes;
  for (uint64_t distance = kPageBytes * 16; distance < kReach; distance += kStep) {
    if (below > distance + kLowest) {
      if (unsigned char* pages = try_at(below - distance)) return pages;
    }
    // The program break grows upwards from the program's end, so its room is left free as far as possible.
    if (distance > kReach / 2) {
      if (unsigned char* pages = try_at(((end_avma + kPageBytes) & ~(kPageBytes - 1)) + distance)) return pages;
    }
  }
  return nullptr;
}

bool protect(uint64_t start_avma, uint64_t end_avma, int protection) {
  start_avma &= ~(kPageBytes - 1);
  end_avma = (end_avma + kPageBytes - 1) & ~(kPageBytes - 1);
  return !is_error(
      raw_syscall(SYS_mprotect, static_cast<long>(start_avma), static_cast<long>(end_avma - start_avma), protection));
}

bool fill_thunk(const Plan& plan, uint32_t index, unsigned char* pages, unsigned char* thunk) {
  const InnerFunction& function = plan.functions[index];
  if (!write_inner_entry(thunk, index, pages)) return false;
  unsigned char* const moved = thunk + kInnerEntryBytes;
  memcpy(moved, function.moved, function.moved_bytes);
  for (uint32_t i = 0; i < function.operand_count; ++i) {
    const wire::MovedOperand& operand = function.operands[i];
    const uint64_t target_avma = plan.bias + operand.target_svma;
    const auto low = static_cast<uint32_t>(target_avma);
    const auto upper = static_cast<uint32_t>(target_avma >> 32);
    switch (operand.value) {
      case wire::MovedValue::kLowAddress: memcpy(moved + operand.at, &low, sizeof low); break;
      case wire::MovedValue::kUpperAddress: memcpy(moved + operand.at, &upper, sizeof upper); break;
      case wire::MovedValue::kDistance:
        if (!put_distance(moved + operand.at, moved + operand.end, target_avma)) return false;
        break;
    }
  }
  InnerSlot& slot = g_inner_slots[index];
  slot.real = reinterpret_cast<InnerReal>(moved);
  slot.what = function.what;
  slot.group = function.group;
  const bool takes = function.what.kind == Kind::Release;
  slot.first = static_cast<uint8_t>(function.what.index_of(takes ? Role::Block : Role::Size));
  slot.count = static_cast<uint8_t>(function.what.index_of(Role::Count));
  return true;
}

// Writes a jump to the thunk, or, if `thunk` is nullptr, the original bytes. False: the system refuses.
bool write_code(const Plan& plan, uint32_t index, const unsigned char* thunk) {
  const InnerFunction& function = plan.functions[index];
  const uint64_t patch_avma = plan.patch_avma(function);
  unsigned char code[wire::kJumpBytes] = {};
  make_jump(code, patch_avma, thunk);
  if (thunk == nullptr) memcpy(code, function.original, sizeof code);
  const int protection = protection_of(patch_avma, sizeof code);
  if (!protect(patch_avma, patch_avma + sizeof code, protection | PROT_WRITE)) return false;
  memcpy(reinterpret_cast<void*>(patch_avma), code, sizeof code);
  protect(patch_avma, patch_avma + sizeof code, protection);
  return true;
}

InnerMovedCall g_moved_calls[wire::kMostInnerFunctions];

// Stores what is needed of calls that the jumps replace. Such a call is the last of the replaced instructions. pre: no
// jump is written yet.
uint32_t keep_moved_calls(const Plan& plan) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < plan.head->function_count; ++i) {
    const InnerFunction& function = plan.functions[i];
    if (function.pushes_return == 0 || plan.is_left_out(function)) continue;
    const uint64_t return_avma = plan.patch_avma(function) + function.patch_bytes;
    uint32_t at = count++;
    for (; at > 0 && g_moved_calls[at - 1].return_avma > return_avma; --at) g_moved_calls[at] = g_moved_calls[at - 1];
    g_moved_calls[at].return_avma = return_avma;
    const uint64_t there = function.patch_bytes < kCallBytes ? function.patch_bytes : kCallBytes;
    memset(g_moved_calls[at].code, 0, kCallBytes);
    memcpy(g_moved_calls[at].code + kCallBytes - there, reinterpret_cast<const void*>(return_avma - there), there);
  }
  return count;
}

// Gives the hooks what they have to know of the code.
void settle_code(const Plan& plan) {
  const wire::InnerPlan& head = *plan.head;
  HeapFunctions heaps;
  if (head.visit_blocks_svma != 0 && head.backing_heap_svma != 0) {
    heaps.visit_blocks = reinterpret_cast<decltype(heaps.visit_blocks)>(plan.bias + head.visit_blocks_svma);
    heaps.backing_heap = reinterpret_cast<decltype(heaps.backing_heap)>(plan.bias + head.backing_heap_svma);
  }
  InnerCode code;
  code.heaps = heaps;
  code.ranges = plan.ranges;
  code.count = head.range_count;
  code.base_avma = plan.bias + head.base_svma;
  code.moved_calls = g_moved_calls;
  code.moved_call_count = keep_moved_calls(plan);
  code.headers = headers_of_object(first_object());
  code.bias = plan.bias;
  LoadedObject agent{};
  find_object(reinterpret_cast<uint64_t>(heapprof_inner), &agent);
  code.agent_start_avma = agent.info.start_avma;
  code.agent_end_avma = agent.info.end_avma;
  set_inner_code(code);
}

// Changes the code of all functions that are not left out, or of none.
InnerState hook_functions(const Plan& plan) {
  const wire::InnerPlan& head = *plan.head;
  const uint64_t bytes = (kHeadBytes + head.function_count * kThunkBytes + kPageBytes - 1) & ~(kPageBytes - 1);
  unsigned char* const pages = map_near(plan.bias + head.base_svma, plan.bias + head.limit_svma, bytes);
  if (pages == nullptr) return InnerState::kNoRoom;
  const auto pages_avma = reinterpret_cast<uint64_t>(pages);
  const auto entry = reinterpret_cast<uint64_t>(heapprof_inner);
  memcpy(pages, &entry, sizeof entry);
  bool is_filled = true;
  for (uint32_t i = 0; i < head.function_count; ++i)
    is_filled = is_filled && fill_thunk(plan, i, pages, pages + kHeadBytes + i * kThunkBytes);
  if (!is_filled || !protect(pages_avma, pages_avma + bytes, PROT_READ | PROT_EXEC)) {
    sys_munmap(pages, bytes);
    return is_filled ? InnerState::kProtected : InnerState::kNoRoom;
  }
  note_own_pages(pages, bytes);
  settle_code(plan);

  // Changes the protection of each function's pages separately, because data may lie between the functions. A page
  // stays executable all the time. So nothing breaks if the kernel refuses to make it writable, or to make it read-only
  // again.
  for (uint32_t i = 0; i < head.function_count; ++i) {
    if (plan.is_left_out(plan.functions[i])) continue;
    if (write_code(plan, i, pages + kHeadBytes + i * kThunkBytes)) continue;
    while (i-- > 0) {  // restores the code of those before
      if (!plan.is_left_out(plan.functions[i])) write_code(plan, i, nullptr);
    }
    return InnerState::kProtected;
  }
  return InnerState::kHooked;
}

// The same in a copy of the process; checks also that everything behaves as before.
struct HookedTrial {
  const Plan* plan;
  InnerState state;
};
void try_hooked(void* result) {
  auto* const trial = static_cast<HookedTrial*>(result);
  trial->state = hook_functions(*trial->plan);
  for (uint32_t group = 0; group < kMostGroups && trial->state == InnerState::kHooked; ++group) {
    const uint32_t count = collect_group(*trial->plan, group);
    if (count == 0 || trial->plan->is_left_out_group(group)) continue;
    if (!behaves_as_allocator(g_tried, count)) trial->state = InnerState::kOtherResult;
  }
}

InnerState carry_out(Plan* plan) {
  if (!has_expected_code(*plan)) return InnerState::kOtherCode;
  if (count_threads() != 1) return InnerState::kThreads;
  if (has_moved_calls(*plan) && has_shadow_stack()) return InnerState::kShadowStack;
  if (!try_groups(plan)) return InnerState::kNotTried;
  bool is_any = false;
  for (uint32_t i = 0; i < plan->head->function_count; ++i) is_any = is_any || !plan->is_left_out(plan->functions[i]);
  if (!is_any) return InnerState::kNone;  // every group is counted elsewhere, or is no allocator
  keep_vector_state();
  HookedTrial trial{plan, InnerState::kNone};
  switch (run_in_copy(try_hooked, &trial, sizeof trial)) {
    case CopyEnd::kDone: break;
    case CopyEnd::kNotMade: return InnerState::kNotTried;
    case CopyEnd::kDied: return InnerState::kOtherResult;
  }
  return trial.state == InnerState::kHooked ? hook_functions(*plan) : trial.state;
}

}  // namespace

void hook_inner_allocators() {
  const wire::InnerPlan* head = inner_plan();
  if (head == nullptr) return;
  Plan plan{};
  plan.head = head;
  plan.functions = reinterpret_cast<const InnerFunction*>(head + 1);
  plan.ranges = reinterpret_cast<const wire::InnerRange*>(plan.functions + head->function_count);
  plan.bias = first_object()->l_addr;
  const InnerState state = is_filtered() ? InnerState::kFiltered : carry_out(&plan);
  uint32_t hooked = 0;
  for (uint32_t i = 0; i < head->function_count; ++i) hooked += !plan.is_left_out(plan.functions[i]);
  if (state == InnerState::kHooked) g_control->inner_functions.store(hooked, std::memory_order_relaxed);
  g_control->inner_doubted.fetch_or(plan.doubted, std::memory_order_relaxed);
  g_control->inner_passed.store(plan.passed, std::memory_order_relaxed);
  g_control->inner_state.store(state, std::memory_order_relaxed);
}

}  // namespace heapprof::agent
