// agent/unwind/dwarf_expression.cc: a stack machine for the expressions that compilers put into call frame information.
//
// The operations are in DWARF 5, 2.5.1 and 7.7.1. A branch may lead backwards, so the number of steps is limited: an
// endless loop would hang the program inside malloc.
#include "agent/unwind/dwarf_expression.h"

#include "agent/unwind/byte_reader.h"

#include <string.h>

namespace heapprof::agent {

namespace {

enum Operation : uint8_t {
  kAddress = 0x03,
  kDereference = 0x06,
  kConst1u = 0x08,
  kConst1s = 0x09,
  kConst2u = 0x0a,
  kConst2s = 0x0b,
  kConst4u = 0x0c,
  kConst4s = 0x0d,
  kConst8u = 0x0e,
  kConst8s = 0x0f,
  kConstUleb = 0x10,
  kConstSleb = 0x11,
  kDuplicate = 0x12,
  kDrop = 0x13,
  kOver = 0x14,
  kPick = 0x15,
  kSwap = 0x16,
  kRotate = 0x17,
  kAbsolute = 0x19,
  kAnd = 0x1a,
  kDivide = 0x1b,
  kMinus = 0x1c,
  kModulo = 0x1d,
  kMultiply = 0x1e,
  kNegate = 0x1f,
  kNot = 0x20,
  kOr = 0x21,
  kPlus = 0x22,
  kPlusConstant = 0x23,
  kShiftLeft = 0x24,
  kShiftRight = 0x25,
  kShiftRightArithmetic = 0x26,
  kExclusiveOr = 0x27,
  kBranch = 0x28,
  kEqual = 0x29,
  kGreaterOrEqual = 0x2a,
  kGreater = 0x2b,
  kLessOrEqual = 0x2c,
  kLess = 0x2d,
  kNotEqual = 0x2e,
  kSkip = 0x2f,
  kLiteral0 = 0x30,
  kLiteral31 = 0x4f,
  kRegister0 = 0x50,
  kRegister31 = 0x6f,
  kBaseRegister0 = 0x70,
  kBaseRegister31 = 0x8f,
  kRegisterExtended = 0x90,
  kBaseRegisterExtended = 0x92,
  kDereferenceSize = 0x94,
  kNothing = 0x96,
};

class Machine {
 public:
  Machine(const uint8_t* begin, const uint8_t* end, const Registers& registers, CfiWorkspace* workspace)
      : begin_(begin),
        end_(end),
        reader_(begin, end),
        registers_(registers),
        workspace_(workspace),
        stack_(workspace->expression_stack) {}

  void push(uint64_t value) {
    if (depth_ == kMaxExpressionDepth) return refuse();
    stack_[depth_++] = value;
  }

  Evaluation run(uint64_t* result) {
    for (uint32_t steps = 0; reader_.left_bytes() != 0; ++steps) {
      if (steps == kMaxExpressionSteps) return Evaluation::kMalformed;
      execute(reader_.read<uint8_t>());
      if (reader_.has_failed()) refuse();
      if (state_ != Evaluation::kDone) return state_;
    }
    *result = pop();
    return state_;
  }

 private:
  void refuse() { state_ = Evaluation::kMalformed; }

  uint64_t pop() {
    if (depth_ == 0) {
      refuse();
      return 0;
    }
    return stack_[--depth_];
  }

  void pick(uint64_t index) {
    if (index >= depth_) return refuse();
    push(stack_[depth_ - 1 - index]);
  }

  void push_register(uint64_t number, uint64_t offset) {
    if (number >= kRegisterCount || !registers_.is_known(static_cast<uint32_t>(number))) {
      state_ = Evaluation::kUnknownRegister;
      return;
    }
    // As an operand, the return address column is the program counter of this frame (descriptions of PLT entries use
    // it). The stored value is that + 1.
    const uint64_t correction = number == kRegisterPc ? 1 : 0;
    push(registers_.value[number] - correction + offset);
  }

  void dereference(uint32_t size_bytes) {
    uint64_t value = 0;
    if (!read_target_memory(workspace_->stacks, pop(), size_bytes, &value)) return refuse();
    push(value);
  }

  void jump(int16_t distance_bytes) {
    const uint8_t* target = reader_.at() + distance_bytes;
    if (target < begin_ || target > end_) return refuse();
    reader_ = ByteReader(target, end_);
  }

  void execute(uint8_t code) {
    if (code >= kLiteral0 && code <= kLiteral31) return push(code - kLiteral0);
    if (code >= kRegister0 && code <= kRegister31) return push_register(code - kRegister0, 0);
    if (code >= kBaseRegister0 && code <= kBaseRegister31) {
      return push_register(code - kBaseRegister0, static_cast<uint64_t>(reader_.read_sleb128()));
    }
    if (code >= kConst1u && code <= kConstSleb) return push(read_constant(code));
    switch (code) {
      case kAddress: return push(reader_.read<uint64_t>());
      case kRegisterExtended: return push_register(reader_.read_uleb128(), 0);
      case kBaseRegisterExtended: {
        const uint64_t number = reader_.read_uleb128();
        return push_register(number, static_cast<uint64_t>(reader_.read_sleb128()));
      }
      case kDereference: return dereference(8);
      case kDereferenceSize: return dereference(reader_.read<uint8_t>());
      case kSkip: return jump(reader_.read<int16_t>());
      case kBranch: {
        const int16_t distance_bytes = reader_.read<int16_t>();
        if (pop() != 0) jump(distance_bytes);
        return;
      }
      case kNothing: return;
      case kDuplicate: return pick(0);
      case kOver: return pick(1);
      case kPick: return pick(reader_.read<uint8_t>());
      case kDrop: pop(); return;
      case kSwap:
      case kRotate: return rotate(code == kSwap ? 2 : 3);
      case kPlusConstant: return push(pop() + reader_.read_uleb128());
      case kNegate: return push(-pop());
      case kNot: return push(~pop());
      case kAbsolute: {
        const uint64_t value = pop();
        return push(static_cast<int64_t>(value) < 0 ? -value : value);
      }
      default: return execute_binary(code);
    }
  }

  uint64_t read_constant(uint8_t code) {
    switch (code) {
      case kConst1u: return reader_.read<uint8_t>();
      case kConst1s: return static_cast<uint64_t>(int64_t{reader_.read<int8_t>()});
      case kConst2u: return reader_.read<uint16_t>();
      case kConst2s: return static_cast<uint64_t>(int64_t{reader_.read<int16_t>()});
      case kConst4u: return reader_.read<uint32_t>();
      case kConst4s: return static_cast<uint64_t>(int64_t{reader_.read<int32_t>()});
      case kConstUleb: return reader_.read_uleb128();
      case kConstSleb: return static_cast<uint64_t>(reader_.read_sleb128());
      default: return reader_.read<uint64_t>();
    }
  }

  // Moves the top entry below the count − 1 entries under it.
  void rotate(uint32_t count) {
    if (depth_ < count) return refuse();
    const uint64_t top = stack_[depth_ - 1];
    for (uint32_t i = 1; i < count; ++i) stack_[depth_ - i] = stack_[depth_ - i - 1];
    stack_[depth_ - count] = top;
  }

  void execute_binary(uint8_t code) {
    if (code < kAnd || code > kNotEqual) return refuse();
    const uint64_t right = pop();
    const uint64_t left = pop();
    const auto signed_left = static_cast<int64_t>(left);
    const auto signed_right = static_cast<int64_t>(right);
    const uint64_t shift = right < 64 ? right : 63;
    switch (code) {
      case kAnd: return push(left & right);
      case kOr: return push(left | right);
      case kExclusiveOr: return push(left ^ right);
      case kPlus: return push(left + right);
      case kMinus: return push(left - right);
      case kMultiply: return push(left * right);
      case kDivide:
        if (right == 0 || (signed_right == -1 && left == uint64_t{1} << 63)) return refuse();
        return push(static_cast<uint64_t>(signed_left / signed_right));
      case kModulo:
        if (right == 0) return refuse();
        return push(left % right);
      case kShiftLeft: return push(right < 64 ? left << shift : 0);
      case kShiftRight: return push(right < 64 ? left >> shift : 0);
      case kShiftRightArithmetic: return push(static_cast<uint64_t>(signed_left >> shift));
      case kEqual: return push(left == right);
      case kNotEqual: return push(left != right);
      case kGreaterOrEqual: return push(signed_left >= signed_right);
      case kGreater: return push(signed_left > signed_right);
      case kLessOrEqual: return push(signed_left <= signed_right);
      case kLess: return push(signed_left < signed_right);
      default: return refuse();
    }
  }

  const uint8_t* begin_;
  const uint8_t* end_;
  ByteReader reader_;
  const Registers& registers_;
  CfiWorkspace* workspace_;
  uint64_t* stack_;
  uint32_t depth_ = 0;
  Evaluation state_ = Evaluation::kDone;
};

}  // namespace

Evaluation evaluate_expression(const uint8_t* block, const uint8_t* readable_end, const Registers& registers,
                               const uint64_t* initial, CfiWorkspace* workspace, uint64_t* result) {
  ByteReader outer(block, readable_end);
  const uint64_t length_bytes = outer.read_uleb128();
  if (outer.has_failed() || length_bytes > outer.left_bytes()) return Evaluation::kMalformed;
  Machine machine(outer.at(), outer.at() + length_bytes, registers, workspace);
  if (initial != nullptr) machine.push(*initial);
  return machine.run(result);
}

}  // namespace heapprof::agent
