// agent/arch/x86_64/unwind_rule.cc: reduces a row of call frame information to a compact rule, for x86-64.
//
// Only sp and bp are followed from frame to frame: compilers compute every CFA from one of them, except in prologues
// that realign the stack and in hand-written code. So a row is compact if the return address is where a call puts it,
// and sp, bp are saved in the usual ways; the other registers do not matter then.
#include "agent/unwind/unwind_rule.h"

#include "agent/unwind/byte_reader.h"

namespace heapprof::agent {

namespace {

constexpr uint8_t kBaseBp = 0x70 + kRegisterBp;  // DW_OP_breg6
constexpr uint8_t kDereference = 0x06;           // DW_OP_deref

// True if the expression is "bp + offset", with a dereference after it if `dereferenced`.
bool is_bp_expression(const uint8_t* block, const uint8_t* readable_end, bool dereferenced, int64_t* offset_bytes) {
  ByteReader reader(block, readable_end);
  const uint64_t length_bytes = reader.read_uleb128();
  if (length_bytes > reader.left_bytes()) return false;
  ByteReader code(reader.at(), reader.at() + length_bytes);
  if (code.read<uint8_t>() != kBaseBp) return false;
  *offset_bytes = code.read_sleb128();
  if (dereferenced && code.read<uint8_t>() != kDereference) return false;
  return !code.has_failed() && code.left_bytes() == 0;
}

bool is_compact_offset(int64_t offset_bytes, int64_t limit_bytes) {
  return (offset_bytes & 7) == 0 && offset_bytes <= limit_bytes && offset_bytes >= -limit_bytes;
}

// Finds where the caller's bp was saved, in words from the CFA; 0: bp is unchanged. Returns false if the row saves bp
// in another way.
bool reduce_bp(const CfiRow& row, int16_t* offset_words) {
  const RegisterRule rule = row.rules[kRegisterBp];
  const int64_t offset_bytes = row.values[kRegisterBp];
  *offset_words = 0;
  if (rule == RegisterRule::kUnspecified || rule == RegisterRule::kSame) return true;
  if (rule != RegisterRule::kOffset || offset_bytes == 0 || !is_compact_offset(offset_bytes, 8 * kMaxSaved))
    return false;
  *offset_words = static_cast<int16_t>(offset_bytes / 8);
  return true;
}

bool reduce_realigned(const CfiRow& row, const uint8_t* readable_end, StepRule* rule) {
  int64_t cfa_slot_bytes = 0;
  int64_t bp_slot_bytes = 0;
  if (!is_bp_expression(row.cfa_expression, readable_end, true, &cfa_slot_bytes)) return false;
  if (row.rules[kRegisterBp] != RegisterRule::kExpression) return false;
  const auto* bp_block = reinterpret_cast<const uint8_t*>(row.values[kRegisterBp]);
  if (!is_bp_expression(bp_block, readable_end, false, &bp_slot_bytes) || bp_slot_bytes != 0) return false;
  if (!is_compact_offset(cfa_slot_bytes, kMaxCfaOffsetBytes)) return false;
  rule->kind = RuleKind::kRealigned;
  rule->cfa_offset_bytes = static_cast<int32_t>(cfa_slot_bytes);
  return true;
}

}  // namespace

bool reduce_ordinary(const FrameDescription& description, const CfiRow& row, StepRule* rule) {
  if (description.is_signal_frame || description.return_register != kRegisterPc) return false;
  if (row.rules[kRegisterPc] != RegisterRule::kOffset || row.values[kRegisterPc] != -8) return false;
  if (row.rules[kRegisterSp] != RegisterRule::kUnspecified) return false;
  if (row.cfa_expression != nullptr) return reduce_realigned(row, description.readable_end, rule);
  if (!is_compact_offset(row.cfa_offset, kMaxCfaOffsetBytes) || !reduce_bp(row, &rule->saved)) return false;
  rule->cfa_offset_bytes = static_cast<int32_t>(row.cfa_offset);
  if (row.cfa_register == kRegisterBp) {
    rule->kind = RuleKind::kCfaFromBp;
    return true;
  }
  rule->kind = RuleKind::kCfaFromSp;
  return row.cfa_register == kRegisterSp && row.cfa_offset >= 8;
}

}  // namespace heapprof::agent
