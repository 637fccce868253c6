// cli/inner/decoder.h: x86-64 instructions, as Capstone decodes them.
#pragma once

#include <capstone/capstone.h>

#include <cstdint>
#include <span>

namespace heapprof::cli {

class Decoder {
 public:
  Decoder() {
    if (cs_open(CS_ARCH_X86, CS_MODE_64, &handle_) != CS_ERR_OK) return;
    cs_option(handle_, CS_OPT_DETAIL, CS_OPT_ON);
    instruction_ = cs_malloc(handle_);
  }
  ~Decoder() {
    if (instruction_ != nullptr) cs_free(instruction_, 1);
    if (handle_ != 0) cs_close(&handle_);
  }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  // The instruction at that offset; nullptr: not an instruction. Valid until the next call.
  const cs_insn* at(std::span<const unsigned char> code, size_t offset, uint64_t svma) {
    if (instruction_ == nullptr || offset >= code.size()) return nullptr;
    const uint8_t* bytes = code.data() + offset;
    size_t left = code.size() - offset;
    return cs_disasm_iter(handle_, &bytes, &left, &svma, instruction_) ? instruction_ : nullptr;
  }
  bool is_in_group(const cs_insn& instruction, unsigned group) const {
    return cs_insn_group(handle_, &instruction, group);
  }

 private:
  csh handle_ = 0;
  cs_insn* instruction_ = nullptr;
};

// True if a branch has its target as an operand.
inline bool is_relative_branch(const cs_insn& instruction) {
  const cs_x86& x86 = instruction.detail->x86;
  return x86.op_count == 1 && x86.operands[0].type == X86_OP_IMM;
}
inline uint64_t branch_target(const cs_insn& instruction) {
  return static_cast<uint64_t>(instruction.detail->x86.operands[0].imm);
}
// These branches have only a short form.
inline bool is_loop(const cs_insn& instruction) {
  switch (instruction.id) {
    case X86_INS_LOOP:
    case X86_INS_LOOPE:
    case X86_INS_LOOPNE:
    case X86_INS_JCXZ:
    case X86_INS_JECXZ:
    case X86_INS_JRCXZ: return true;
    default: return false;
  }
}

}  // namespace heapprof::cli
