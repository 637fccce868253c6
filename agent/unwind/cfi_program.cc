// agent/unwind/cfi_program.cc: executes a function's call frame instructions up to an address.
//
// The instructions are in DWARF 5, 6.4.2 and 7.24, and in LSB 5.0, 10.5.2. Each is executed or refused, because
// skipping one would leave a wrong row that looks right. A program runs only once for each program counter, because the
// resulting rule is cached.
#include "agent/unwind/cfi_program.h"

#include "agent/unwind/byte_reader.h"

namespace heapprof::agent {

namespace {

enum Instruction : uint8_t {
  kNop = 0x00,
  kSetLocation = 0x01,
  kAdvance1 = 0x02,
  kAdvance2 = 0x03,
  kAdvance4 = 0x04,
  kOffsetExtended = 0x05,
  kRestoreExtended = 0x06,
  kUndefinedRegister = 0x07,
  kSameValue = 0x08,
  kInRegister = 0x09,
  kRememberState = 0x0a,
  kRestoreState = 0x0b,
  kDefineCfa = 0x0c,
  kDefineCfaRegister = 0x0d,
  kDefineCfaOffset = 0x0e,
  kDefineCfaExpression = 0x0f,
  kAtExpression = 0x10,
  kOffsetExtendedSigned = 0x11,
  kDefineCfaSigned = 0x12,
  kDefineCfaOffsetSigned = 0x13,
  kValOffset = 0x14,
  kValOffsetSigned = 0x15,
  kValExpression = 0x16,
  kAdvance8 = 0x1d,  // DW_CFA_MIPS_advance_loc8
  kArgumentsSize = 0x2e,
  kNegativeOffsetExtended = 0x2f,
  kAdvance = 1,  // these three have their code in the high two bits and an operand in the low six
  kOffset = 2,
  kRestore = 3,
};

class Program {
 public:
  Program(const FrameDescription& description, const uint8_t* at, const uint8_t* end, CfiWorkspace* workspace)
      : description_(description), reader_(at, end), workspace_(workspace), row_(workspace->row) {}

  // Executes until the row for pc_avma is complete. False: the program is malformed or has an unknown instruction.
  bool run(uint64_t start_avma, uint64_t pc_avma) {
    location_avma_ = start_avma;
    while (reader_.left_bytes() != 0 && location_avma_ <= pc_avma) {
      // The row that applies at pc_avma is the last one before the location moves beyond pc_avma.
      const uint8_t code = reader_.read<uint8_t>();
      const uint64_t operand = code & 0x3f;
      switch (code >> 6) {
        case kAdvance: advance(operand); break;
        case kOffset: set(operand, RegisterRule::kOffset, scaled(reader_.read_uleb128())); break;
        case kRestore: restore(operand); break;
        default:
          if (!execute(code)) return false;
          break;
      }
      if (reader_.has_failed()) return false;
    }
    workspace_->row_end_avma = location_avma_ > pc_avma ? location_avma_ : ~uint64_t{0};
    return true;
  }

 private:
  bool execute(uint8_t code) {
    if (toggles_signature(code)) return true;  // load_return() drops a signature, whether there is one or not
    switch (code) {
      case kNop: return true;
      case kSetLocation: location_avma_ = reader_.read_pointer(description_.pointer_encoding, 0); return true;
      case kAdvance1: advance(reader_.read<uint8_t>()); return true;
      case kAdvance2: advance(reader_.read<uint16_t>()); return true;
      case kAdvance4: advance(reader_.read<uint32_t>()); return true;
      case kAdvance8: advance(reader_.read<uint64_t>()); return true;
      case kRestoreExtended: restore(reader_.read_uleb128()); return true;
      case kUndefinedRegister: set(reader_.read_uleb128(), RegisterRule::kUndefined, 0); return true;
      case kSameValue: set(reader_.read_uleb128(), RegisterRule::kSame, 0); return true;
      case kRememberState: return remember();
      case kRestoreState: return recall();
      case kArgumentsSize: reader_.read_uleb128(); return true;  // matters to exception landing pads only
      case kDefineCfa:
      case kDefineCfaSigned:
      case kDefineCfaRegister:
      case kDefineCfaOffset:
      case kDefineCfaOffsetSigned:
      case kDefineCfaExpression: define_cfa(code); return true;
      default: return execute_register_rule(code);
    }
  }

  bool execute_register_rule(uint8_t code) {
    const uint64_t number = reader_.read_uleb128();
    switch (code) {
      case kOffsetExtended: set(number, RegisterRule::kOffset, scaled(reader_.read_uleb128())); return true;
      case kOffsetExtendedSigned: set(number, RegisterRule::kOffset, scaled_signed()); return true;
      case kNegativeOffsetExtended: set(number, RegisterRule::kOffset, scaled(-reader_.read_uleb128())); return true;
      case kValOffset: set(number, RegisterRule::kValueOffset, scaled(reader_.read_uleb128())); return true;
      case kValOffsetSigned: set(number, RegisterRule::kValueOffset, scaled_signed()); return true;
      case kInRegister: set(number, RegisterRule::kRegister, static_cast<int64_t>(reader_.read_uleb128())); return true;
      case kAtExpression: set(number, RegisterRule::kExpression, reinterpret_cast<int64_t>(take_block())); return true;
      case kValExpression:
        set(number, RegisterRule::kValueExpression, reinterpret_cast<int64_t>(take_block()));
        return true;
      default: return false;
    }
  }

  void define_cfa(uint8_t code) {
    if (code == kDefineCfaExpression) {
      row_.cfa_expression = take_block();
      return;
    }
    if (code == kDefineCfa || code == kDefineCfaSigned || code == kDefineCfaRegister) {
      row_.cfa_register = reader_.read_uleb128();
      row_.cfa_expression = nullptr;
    }
    if (code == kDefineCfa || code == kDefineCfaOffset) row_.cfa_offset = static_cast<int64_t>(reader_.read_uleb128());
    if (code == kDefineCfaSigned || code == kDefineCfaOffsetSigned) row_.cfa_offset = scaled_signed();
  }

  void advance(uint64_t delta) { location_avma_ += delta * description_.code_alignment; }

  // Unsigned multiplication, because a malformed factor may overflow.
  int64_t scaled(uint64_t factored) const {
    return static_cast<int64_t>(factored * static_cast<uint64_t>(description_.data_alignment));
  }
  int64_t scaled_signed() { return scaled(static_cast<uint64_t>(reader_.read_sleb128())); }

  // Vector registers and the like are ignored: no address depends on them.
  void set(uint64_t number, RegisterRule rule, int64_t value) {
    if (number >= kRegisterCount) return;
    row_.rules[number] = rule;
    row_.values[number] = value;
  }

  void restore(uint64_t number) {
    if (number >= kRegisterCount) return;
    row_.rules[number] = workspace_->initial.rules[number];
    row_.values[number] = workspace_->initial.values[number];
  }

  bool remember() {
    if (remembered_count_ == kMaxRememberedRows) return false;
    workspace_->remembered[remembered_count_++] = row_;
    return true;
  }

  bool recall() {
    if (remembered_count_ == 0) return false;
    row_ = workspace_->remembered[--remembered_count_];
    return true;
  }

  // Skips an expression: its length, then its bytes. Returns the address of the length.
  const uint8_t* take_block() {
    const uint8_t* block = reader_.at();
    reader_.skip(reader_.read_uleb128());
    return block;
  }

  const FrameDescription& description_;
  ByteReader reader_;
  CfiWorkspace* workspace_;
  CfiRow& row_;
  uint64_t location_avma_ = 0;
  uint32_t remembered_count_ = 0;
};

}  // namespace

bool run_cfi_program(const FrameDescription& description, uint64_t pc_avma, CfiWorkspace* workspace) {
  workspace->row = {};
  workspace->initial = {};
  Program initial(description, description.initial_program, description.initial_program_end, workspace);
  if (!initial.run(0, ~uint64_t{0})) return false;
  workspace->initial = workspace->row;
  Program program(description, description.program, description.program_end, workspace);
  return program.run(description.start_avma, pc_avma);
}

}  // namespace heapprof::agent
