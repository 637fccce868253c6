// agent/arch/aarch64/unwind_rule.cc: reduces a row of call frame information to a compact rule, for AArch64.
//
// Only sp and the frame pointer (x29) are followed from frame to frame. A row is compact if the return address is saved
// in the frame, and the caller's frame pointer is unchanged or in the word below it, as in a frame record. A frame
// whose return address is still in its register is the innermost one of a signal handler's caller, or a leaf that was
// interrupted: the interpreter knows that register then.
#include "agent/unwind/unwind_rule.h"

namespace heapprof::agent {

namespace {

bool is_compact_offset(int64_t offset_bytes, int64_t limit_bytes) {
  return (offset_bytes & 7) == 0 && offset_bytes <= limit_bytes && offset_bytes >= -limit_bytes;
}

bool is_unchanged(RegisterRule rule) { return rule == RegisterRule::kUnspecified || rule == RegisterRule::kSame; }

}  // namespace

bool reduce_ordinary(const FrameDescription& description, const CfiRow& row, StepRule* rule) {
  constexpr int64_t kMaxReturnOffsetBytes = 8 * (kMaxSaved / 2);
  if (description.is_signal_frame || description.return_register != kRegisterReturn) return false;
  if (row.rules[kRegisterReturn] != RegisterRule::kOffset || row.rules[kRegisterSp] != RegisterRule::kUnspecified)
    return false;
  const int64_t return_offset_bytes = row.values[kRegisterReturn];
  if (row.cfa_expression != nullptr || !is_compact_offset(row.cfa_offset, kMaxCfaOffsetBytes) ||
      !is_compact_offset(return_offset_bytes, kMaxReturnOffsetBytes) || return_offset_bytes >= 0)
    return false;
  const bool saves_bp =
      row.rules[kRegisterBp] == RegisterRule::kOffset && row.values[kRegisterBp] == return_offset_bytes - 8;
  if (!saves_bp && !is_unchanged(row.rules[kRegisterBp])) return false;
  rule->cfa_offset_bytes = static_cast<int32_t>(row.cfa_offset);
  rule->saved = make_saved(static_cast<int32_t>(return_offset_bytes / 8), saves_bp);
  if (row.cfa_register == kRegisterBp) {
    rule->kind = RuleKind::kCfaFromBp;
    return true;
  }
  rule->kind = RuleKind::kCfaFromSp;
  return row.cfa_register == kRegisterSp && row.cfa_offset + return_offset_bytes >= 0;
}

}  // namespace heapprof::agent
