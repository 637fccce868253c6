// tests/fuzz/unwind_fuzz.cc: any bytes as the unwind table of a module: nothing outside of it is read, and every walk
// ends soon.
//
// Input: where the program counter and .eh_frame_hdr are in relation to the table (4 and 2 bytes), which registers are
// known (2), a seed for their contents and the stack's (8), and the table. The target's memory is a function of the
// address.
#include "agent/process/arena.h"
#include "agent/process/early.h"
#include "agent/process/link_map.h"
#include "agent/process/modules.h"
#include "agent/unwind/cfi_interpreter.h"
#include "agent/unwind/dwarf_expression.h"
#include "agent/unwind/eh_frame.h"
#include "agent/unwind/unwind_rule.h"

#include <cstdlib>
#include <cstring>
#include <vector>

namespace heapprof::agent {

// There is no arena here, and no code that is known.
wire::Control* g_control = nullptr;
void end_known_code(const Ending&) {}
Definition find_in_glibc(const char*) { return {}; }
const link_map* first_object() { return nullptr; }
const r_debug* loader_state() { return &_r_debug; }
ProgramHeaders headers_of_program() { return {}; }
uint64_t processor_flags() { return 0; }

namespace {

ModuleInfo g_module;
uint64_t g_seed;

}  // namespace

FrameSearch find_frame(uint64_t pc_avma, uint32_t /*generation*/, FrameDescription* description, uint64_t* row_avma) {
  *row_avma = pc_avma - 1;
  return find_description(g_module, *row_avma, description) ? FrameSearch::kFound : FrameSearch::kNotDescribed;
}

bool read_target_memory(KnownStacks*, uint64_t avma, uint32_t size_bytes, uint64_t* value) {
  if (!is_plausible_address(avma) || size_bytes == 0 || size_bytes > 8) return false;
  *value = (avma ^ g_seed) * 0x9E3779B97F4A7C15 >> (64 - 8 * size_bytes);
  return true;
}

}  // namespace heapprof::agent

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace heapprof::agent;
  struct Head {
    int32_t pc_off;
    uint16_t header_off;
    uint16_t known;
    uint64_t seed;
  } head;
  static_assert(sizeof head == 16);
  if (size < sizeof head) return 0;
  std::memcpy(&head, data, sizeof head);
  if (head.header_off >= size - sizeof head) return 0;          // the loader's headers say that it is in there
  std::vector<uint8_t> table(data + sizeof head, data + size);  // of its own, so that the sanitizer sees its ends
  table.shrink_to_fit();
  const auto start_avma = reinterpret_cast<uint64_t>(table.data());
  g_module = {start_avma, start_avma + table.size(), 0,
              start_avma, start_avma + table.size(), table.data() + head.header_off};
  g_seed = head.seed;

  static KnownStacks stacks;
  static CfiWorkspace workspace;
  workspace.stacks = &stacks;
  const uint64_t pc_avma = start_avma + static_cast<uint64_t>(int64_t{head.pc_off}) + 1;
  bool is_cacheable = false;
  const UnwindRule rule = make_rule(pc_avma, 0, &workspace, &is_cacheable);
  if (rule.kind == RuleKind::kCfaFromSp && rule.cfa_offset_bytes < 8) std::abort();

  Registers registers{};
  registers.known = head.known | 1u << kRegisterPc;
  for (uint32_t i = 0; i < kRegisterCount; ++i) registers.value[i] = 0x7fff00000000 + (head.seed >> i) % 4096 * 8;
  registers.value[kRegisterPc] = pc_avma;
  for (int depth = 0; depth < 4; ++depth) {
    bool has_jumped = false;
    if (step_frame(0, &workspace, &registers, &has_jumped) != Step::kDone) break;
    if ((registers.value[kRegisterSp] & 7) != 0) std::abort();
    registers.value[kRegisterPc] = pc_avma;
  }
  return 0;
}
