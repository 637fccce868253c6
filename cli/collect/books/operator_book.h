// cli/collect/books/operator_book.h: which PyTorch operator created which function of the backward pass, by the
// sequence numbers of both.
//
// If a thread runs operators with gradients, it numbers the backward functions that these operators create. An operator
// begins with the number that the next function will have. If several begin with one number, the last and innermost one
// created the function.
//
// Guarantees
//  - If two threads had the same number among the last kKept, the function gets no operator rather than another
//    thread's.
//  - Memory is bounded: the last kKept numbers are known, in 1 MiB that is allocated at the first one.
// Context:  one thread.
// Trust:    every number is the target's.
#pragma once

#include "shared/scopes.h"

#include <cstdint>
#include <vector>

namespace heapprof::cli {

class OperatorBook {
 public:
  static constexpr uint32_t kKept = 1u << 16;

  // The operator has begun in that path. operator_word: wire::pack_operator
  void note(uint32_t operator_word, uint32_t path, uint32_t thread_id) {
    const uint32_t sequence = wire::operator_sequence(operator_word);
    if (sequence == 0 || wire::is_backward_operator(operator_word)) return;
    if (kept_.empty()) kept_.resize(kKept);
    Left& left = kept_[sequence % kKept];
    const bool is_shared = left.sequence == sequence && (left.thread_id != thread_id || left.path == 0);
    left = {sequence, is_shared ? 0 : path, thread_id};
  }
  // The path of the operator that created this function; 0: not known.
  uint32_t forward_of(uint32_t operator_word) const {
    const uint32_t sequence = wire::operator_sequence(operator_word);
    if (sequence == 0 || kept_.empty()) return 0;
    const Left& left = kept_[sequence % kKept];
    return left.sequence == sequence ? left.path : 0;
  }
  uint64_t bytes() const { return kept_.size() * sizeof(Left); }

 private:
  struct Left {
    uint32_t sequence = 0;
    uint32_t path = 0;
    uint32_t thread_id = 0;
  };
  std::vector<Left> kept_;
};

}  // namespace heapprof::cli
