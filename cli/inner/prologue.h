// cli/inner/prologue.h: whether the first instructions of a function can be relocated into a trampoline, and how.
//
// A jump of five bytes replaces them. Each instruction that it overlaps is copied whole; a position-relative operand (a
// branch, or memory by rip) is recomputed.
//
// Guarantees
//  - A function is refused, with the reason, if the relocation could change what it does. The reasons: the covered
//    bytes refer to themselves; the function is shorter than a jump, and something else follows; it loops there; or the
//    disassembler does not know its bytes.
//  - endbr64 at its entry stays: an indirect jump there must find it.
// Not provided: a check for branches to the covered bytes from elsewhere (cli/inner/branches.h).
// Trust:    any bytes.
#pragma once

#include "cli/inner/code_file.h"
#include "shared/inner.h"

#include <string_view>

namespace heapprof::cli {

struct Prologue {
  wire::InnerFunction function{};  // all fields except `what` and `group`
  std::string_view refusal;        // "calls another function in its first bytes"; empty: it can be moved
};

// size_bytes: 0: unknown. pre: file.read_code()
Prologue move_prologue(const CodeFile& file, uint64_t entry_svma, uint64_t size_bytes);

}  // namespace heapprof::cli
