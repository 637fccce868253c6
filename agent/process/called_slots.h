// agent/process/called_slots.h: finds out through which of an object's slots its code calls or jumps.
//
// Code that was compiled with -fno-plt calls through a slot, the stubs of a procedure linkage table jump through one
// (used_slot() of the architecture). If neither uses a slot, the slot holds a pointer that the program compares or
// stores.
//
// Not provided: code that loads the function's address into a register and calls that.
// Cost:     one read of the object's code, some 2 GB/s.
#pragma once

#include <link.h>
#include <stddef.h>
#include <stdint.h>

namespace heapprof::agent {

class CalledSlots {
 public:
  void add(uint64_t slot_avma) {
    if (count_ < kMost) slots_[count_++] = {slot_avma, false};
  }
  // Reads the object's code through the kernel, because it may be unmapped. The pieces overlap by an instruction.
  void read_code(const link_map* object);
  bool has(uint64_t slot_avma) const {
    for (size_t i = 0; i < count_; ++i) {
      if (slots_[i].avma == slot_avma) return slots_[i].is_called;
    }
    return false;
  }

 private:
  static constexpr size_t kMost = 128;
  static constexpr uint64_t kPieceBytes = 16384;

  void read_piece(uint64_t at_avma, uint64_t bytes);

  struct Slot {
    uint64_t avma;
    bool is_called;
  };
  Slot slots_[kMost];
  size_t count_ = 0;
};

}  // namespace heapprof::agent
