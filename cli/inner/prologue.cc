// cli/inner/prologue.cc: capstone decodes; the instruction's encoding tells which operands are relative.
#include "cli/inner/prologue.h"

#include "cli/inner/decoder.h"

#include <cstring>

namespace heapprof::cli {

namespace {

constexpr uint64_t kMostFunctionBytes = 1 << 20;
constexpr unsigned char kEndBranch[] = {0xf3, 0x0f, 0x1e, 0xfa};
constexpr unsigned char kNearJump = 0xe9;
constexpr unsigned char kTwoByteOpcode = 0x0f;
constexpr unsigned char kNearCondition = 0x80;   // 0f 80 … 0f 8f
constexpr unsigned char kShortCondition = 0x70;  // 70 … 7f
constexpr size_t kOperandBytes = 4;

bool is_memory_by_rip(const cs_insn& instruction) {
  const cs_x86& x86 = instruction.detail->x86;
  for (uint8_t i = 0; i < x86.op_count; ++i) {
    if (x86.operands[i].type == X86_OP_MEM && x86.operands[i].mem.base == X86_REG_RIP) return true;
  }
  return false;
}
bool uses_stack_pointer(const cs_insn& instruction) {
  const cs_x86& x86 = instruction.detail->x86;
  for (uint8_t i = 0; i < x86.op_count; ++i) {
    const cs_x86_op& operand = x86.operands[i];
    if (operand.type == X86_OP_REG && operand.reg == X86_REG_RSP) return true;
    if (operand.type == X86_OP_MEM && (operand.mem.base == X86_REG_RSP || operand.mem.index == X86_REG_RSP))
      return true;
  }
  return false;
}
bool uses_eip(const cs_insn& instruction) {
  const cs_x86& x86 = instruction.detail->x86;
  for (uint8_t i = 0; i < x86.op_count; ++i) {
    if (x86.operands[i].type == X86_OP_MEM && x86.operands[i].mem.base == X86_REG_EIP) return true;
  }
  return false;
}

// True for what a linker or compiler puts between functions.
bool is_padding(std::span<const unsigned char> bytes, Decoder* decoder) {
  for (size_t at = 0; at < bytes.size();) {
    if (bytes[at] == 0xcc || bytes[at] == 0) {
      ++at;
      continue;
    }
    const cs_insn* const instruction = decoder->at(bytes, at, at);
    if (instruction == nullptr || instruction->id != X86_INS_NOP) return false;
    at += instruction->size;
  }
  return true;
}

// Writes moved instructions.
class Mover {
 public:
  explicit Mover(wire::InnerFunction* function) : function_(function) {}

  bool copy(const cs_insn& instruction) {
    if (function_->moved_bytes + instruction.size > wire::kMostMovedBytes) return false;
    std::memcpy(function_->moved + function_->moved_bytes, instruction.bytes, instruction.size);
    function_->moved_bytes = static_cast<uint8_t>(function_->moved_bytes + instruction.size);
    return true;
  }
  // Makes four bytes of the last instruction, from that offset in it on, refer to the target.
  bool lead(size_t instruction_bytes, size_t offset, uint64_t target_svma,
            wire::MovedValue value = wire::MovedValue::kDistance) {
    if (function_->operand_count == wire::kMostMovedOperands) return false;
    wire::MovedOperand& operand = function_->operands[function_->operand_count++];
    operand.target_svma = target_svma;
    operand.value = value;
    operand.end = function_->moved_bytes;
    operand.at = static_cast<uint8_t>(function_->moved_bytes - instruction_bytes + offset);
    std::memset(function_->moved + operand.at, 0, kOperandBytes);
    return true;
  }
  // Writes a call as a push of the return address, in two halves, and a jump, so that an unwinder sees the function,
  // not the trampoline. Flags and registers are as a call leaves them.
  bool call(const cs_insn& instruction, uint64_t return_svma) {
    constexpr unsigned char kPush[] = {0x68, 0, 0, 0, 0};                     // push imm32
    constexpr unsigned char kStore[] = {0xc7, 0x44, 0x24, 0x04, 0, 0, 0, 0};  // mov dword [rsp + 4], imm32
    constexpr unsigned char kIndirect = 0xff;                                 // ff /2: call; ff /4: jmp
    const cs_x86& x86 = instruction.detail->x86;
    if (!append(kPush) || !lead(sizeof kPush, 1, return_svma, wire::MovedValue::kLowAddress)) return false;
    if (!append(kStore) || !lead(sizeof kStore, 4, return_svma, wire::MovedValue::kUpperAddress)) return false;
    function_->pushes_return = 1;
    if (is_relative_branch(instruction)) return branch(std::span(&kNearJump, 1), branch_target(instruction));
    const size_t before = function_->moved_bytes;
    const size_t opcode = x86.encoding.modrm_offset - 1u;
    if (x86.encoding.modrm_offset == 0 || instruction.bytes[opcode] != kIndirect || !copy(instruction)) return false;
    unsigned char& operand = function_->moved[before + x86.encoding.modrm_offset];
    constexpr unsigned char kOperation = 0x38;  // of a ModRM byte
    operand = static_cast<unsigned char>((operand & ~kOperation) | 4 << 3);
    if (!is_memory_by_rip(instruction)) return true;
    return lead(instruction.size, x86.encoding.disp_offset,
                instruction.address + instruction.size + static_cast<uint64_t>(x86.disp));
  }
  // Writes a near branch: its opcode, and four bytes.
  bool branch(std::span<const unsigned char> opcode, uint64_t target_svma) {
    const size_t bytes = opcode.size() + kOperandBytes;
    if (function_->moved_bytes + bytes > wire::kMostMovedBytes) return false;
    std::memcpy(function_->moved + function_->moved_bytes, opcode.data(), opcode.size());
    function_->moved_bytes = static_cast<uint8_t>(function_->moved_bytes + bytes);
    return lead(bytes, opcode.size(), target_svma);
  }

 private:
  bool append(std::span<const unsigned char> bytes) {
    if (function_->moved_bytes + bytes.size() > wire::kMostMovedBytes) return false;
    std::memcpy(function_->moved + function_->moved_bytes, bytes.data(), bytes.size());
    function_->moved_bytes = static_cast<uint8_t>(function_->moved_bytes + bytes.size());
    return true;
  }

  wire::InnerFunction* function_;
};

// Moves one instruction. Returns why it cannot be moved; nullptr: it has been moved. covered: bytes of the function
// that were moved before it.
const char* move_one(const cs_insn& instruction, size_t covered, const Decoder& decoder, Mover* mover) {
  constexpr const char* kTooMuch = "begins with more relative operands than can be moved";
  if (decoder.is_in_group(instruction, X86_GRP_CALL)) {
    // The moved call returns into the original function. That is possible only if the return address lies after the
    // jump.
    const bool returns_behind = covered + instruction.size >= wire::kJumpBytes;
    const bool is_moved = returns_behind && !uses_stack_pointer(instruction) && instruction.id == X86_INS_CALL &&
                          mover->call(instruction, instruction.address + instruction.size);
    return is_moved ? nullptr : "calls another function in its first bytes";
  }
  if (is_memory_by_rip(instruction)) {
    const cs_x86_encoding& encoding = instruction.detail->x86.encoding;
    if (encoding.disp_size != kOperandBytes) return "addresses memory in a way that cannot be moved";
    const uint64_t target_svma =
        instruction.address + instruction.size + static_cast<uint64_t>(instruction.detail->x86.disp);
    if (!mover->copy(instruction) || !mover->lead(instruction.size, encoding.disp_offset, target_svma)) return kTooMuch;
    return nullptr;
  }
  if (uses_eip(instruction)) return "addresses memory in a way that cannot be moved";
  if (is_loop(instruction)) return "loops in its first bytes";
  if (instruction.id == X86_INS_XBEGIN) return "begins a transaction in its first bytes";
  if (decoder.is_in_group(instruction, X86_GRP_JUMP) && is_relative_branch(instruction)) {
    const uint64_t target_svma = branch_target(instruction);
    if (instruction.id == X86_INS_JMP) return mover->branch(std::span(&kNearJump, 1), target_svma) ? nullptr : kTooMuch;
    // Prediction hints and other prefixes are dropped.
    const uint8_t opcode = instruction.detail->x86.opcode[0];
    const uint8_t second = instruction.detail->x86.opcode[1];
    uint8_t condition;
    if ((opcode & 0xf0) == kShortCondition) {
      condition = opcode & 0x0f;
    } else if (opcode == kTwoByteOpcode && (second & 0xf0) == kNearCondition) {
      condition = second & 0x0f;
    } else {
      return "branches in a way that cannot be moved";
    }
    const unsigned char near[] = {kTwoByteOpcode, static_cast<unsigned char>(kNearCondition | condition)};
    return mover->branch(near, target_svma) ? nullptr : kTooMuch;
  }
  return mover->copy(instruction) ? nullptr : kTooMuch;
}

bool is_end(const cs_insn& instruction, const Decoder& decoder) {
  return instruction.id == X86_INS_JMP || instruction.id == X86_INS_CALL || instruction.id == X86_INS_UD2 ||
         instruction.id == X86_INS_HLT || decoder.is_in_group(instruction, X86_GRP_RET);
}

}  // namespace

Prologue move_prologue(const CodeFile& file, uint64_t entry_svma, uint64_t size_bytes) {
  Prologue prologue;
  const auto refuse = [&prologue](const char* why) {
    prologue.refusal = why;
    return prologue;
  };
  const uint64_t room = file.next_start_svma(entry_svma) - entry_svma;  // up to another function
  if (size_bytes == 0 || size_bytes > room) size_bytes = room;
  const std::span<const unsigned char> all = file.code_at(entry_svma, std::min(room, kMostFunctionBytes));
  if (all.empty()) return refuse("is not in the program's code");
  size_bytes = std::min<uint64_t>(size_bytes, all.size());
  const std::span<const unsigned char> code = all.subspan(0, size_bytes);
  Decoder decoder;
  const bool has_end_branch =
      code.size() >= sizeof kEndBranch && std::memcmp(code.data(), kEndBranch, sizeof kEndBranch) == 0;
  const size_t start = has_end_branch ? sizeof kEndBranch : 0;

  wire::InnerFunction& function = prologue.function;
  function.patch_svma = entry_svma + start;
  Mover mover(&function);
  size_t covered = 0;
  bool is_ended = false;
  while (covered < wire::kJumpBytes && !is_ended) {
    const cs_insn* const instruction = decoder.at(code, start + covered, entry_svma + start + covered);
    if (instruction == nullptr) return refuse("begins with bytes that are no known instruction");
    if (const char* why = move_one(*instruction, covered, decoder, &mover); why != nullptr) return refuse(why);
    covered += instruction->size;
    is_ended = is_end(*instruction, decoder);
  }
  if (covered < wire::kJumpBytes) {  // the function has ended: bytes after it may be covered if they are never executed
    const size_t missing = wire::kJumpBytes - covered;
    if (all.size() - start - covered < missing || !is_padding(all.subspan(start + covered, missing), &decoder))
      return refuse("is shorter than a jump");
    covered = wire::kJumpBytes;
  }
  if (covered > wire::kMostPatchBytes) return refuse("begins with more than can be moved");
  if (!is_ended && !mover.branch(std::span(&kNearJump, 1), function.patch_svma + covered))
    return refuse("begins with more relative operands than can be moved");
  function.patch_bytes = static_cast<uint8_t>(covered);
  std::memcpy(function.original, all.data() + start, covered);
  // An operand that leads to the covered bytes, or reads them, would find the jump there.
  for (size_t i = 0; i < function.operand_count; ++i) {
    const uint64_t target = function.operands[i].target_svma;
    if (target >= entry_svma && target < function.patch_svma + covered)
      return refuse("refers to its first bytes in them");
  }
  return prologue;
}

}  // namespace heapprof::cli
