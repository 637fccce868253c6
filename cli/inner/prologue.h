// cli/inner/prologue.h: whether the first instructions of a function can be executed elsewhere, and how.
//
// A jump of five bytes takes their place. What it covers is whole instructions; each is copied, and where it has an
// operand that is relative to where it stands (a branch, or memory by rip) that is written anew.
//
// Guarantees
//  - A function is refused, with the reason, where that could change what it does: the covered bytes refer to
//    themselves, it is shorter than a jump and something else follows, it loops there, or its bytes are no instructions
//    that the disassembler knows.
//  - endbr64 at its entry stays: who jumps there by a pointer must find it.
// Not provided: what leads to the covered bytes from elsewhere (cli/inner/branches.h).
// Trust:    any bytes.
#pragma once

#include "cli/inner/code_file.h"
#include "shared/inner.h"

#include <string_view>

namespace heapprof::cli {

struct Prologue {
  wire::InnerFunction function{};  // but for `what` and `group`
  std::string_view refusal;        // "calls another function in its first bytes"; empty: it can be moved
};

// size_bytes: 0: not known. pre: file.read_code()
Prologue move_prologue(const CodeFile& file, uint64_t entry_svma, uint64_t size_bytes);

}  // namespace heapprof::cli
