// agent/hooks/allocator_evidence.cc: fills blocks, and checks each one after all others were filled.
#include "agent/hooks/allocator_evidence.h"

#include "agent/process/state.h"

#include <string.h>

namespace heapprof::agent {

namespace {

using Kind = wire::AllocatorKind;
using Role = wire::AllocatorRole;

constexpr size_t kParameters = wire::kAllocatorParameters;
constexpr size_t kAlignment = 16;  // passed as every alignment, also to free a block allocated without one
constexpr size_t kLeastAlignment = 8;
constexpr size_t kSizes[] = {32, 128, 1008};  // multiples of the alignment, as C's aligned_alloc wants them
constexpr size_t kLargeBytes = 20'480;
constexpr size_t kAskedSizes[] = {128, 1008, kLargeBytes, 200'000};  // most allocators map the last with mmap

using Function = size_t (*)(size_t, size_t, size_t, size_t, size_t, size_t);

unsigned char* bytes_at(size_t block) { return reinterpret_cast<unsigned char*>(block); }

void fill(size_t block, size_t bytes, unsigned char with) { memset(bytes_at(block), with, bytes); }
bool holds(size_t block, size_t bytes, unsigned char what) {
  for (size_t i = 0; i < bytes; ++i) {
    if (bytes_at(block)[i] != what) return false;
  }
  return true;
}

bool needs_heap(const TriedFunction& function) { return function.what.has(Role::Heap); }
bool is_reallocation(Kind kind) {
  return kind == Kind::Reallocate || kind == Kind::ReallocateOrFree || kind == Kind::ReallocateInto;
}

// Calls the function for that many bytes. block: the value of its parameter Block, or of *Out.
size_t call_tried(const TriedFunction& function, size_t bytes, size_t block) {
  size_t given[kParameters] = {};
  size_t out = block;
  for (size_t i = 0; i < kParameters; ++i) {
    switch (function.what.roles[i]) {
      case Role::Size: given[i] = bytes; break;
      case Role::Count: given[i] = 1; break;
      case Role::Block: given[i] = block; break;
      case Role::Alignment: given[i] = kAlignment; break;
      case Role::Out: given[i] = reinterpret_cast<size_t>(&out); break;
      default: break;
    }
  }
  const auto call = reinterpret_cast<Function>(function.entry_avma);
  const size_t result = call(given[0], given[1], given[2], given[3], given[4], given[5]);
  if (!function.what.has(Role::Out)) return result;
  return static_cast<int>(result) == 0 ? *static_cast<volatile size_t*>(&out) : 0;
}

// True if the function allocates blocks by size alone, without a heap or an alignment.
bool is_plain(const wire::AllocatorFunction& what) {
  return what.kind == Kind::Allocate && !what.has(Role::Alignment) && !what.has(Role::Heap);
}

class Trial {
 public:
  Trial(const TriedFunction* functions, uint32_t count) : functions_(functions), count_(count) {
    for (uint32_t i = 0; i < count; ++i) {
      const TriedFunction& one = functions[i];
      if (give_ == nullptr && is_plain(one.what) && !one.is_small) give_ = &one;
      const bool takes = one.what.kind == Kind::Release && !needs_heap(one) && !one.what.has(Role::Alignment);
      if (takes && (take_ == nullptr || take_->what.has(Role::Size))) take_ = &one;
    }
  }

  bool is_passed() {
    if (give_ == nullptr || take_ == nullptr) return false;
    if (!gives_memory(*give_, kLargeBytes)) return false;
    for (uint32_t i = 0; i < count_; ++i) {
      if (!is_right(functions_[i])) return false;
    }
    return gives_memory(*give_, kLargeBytes);  // after all blocks were freed
  }

 private:
  bool is_right(const TriedFunction& one) {
    if (needs_heap(one)) return true;
    const Kind kind = one.what.kind;
    if (kind == Kind::Allocate || kind == Kind::AllocateInto) return gives_memory(one, 0);
    if (kind == Kind::Release) return takes_memory(one);
    if (is_reallocation(kind)) return keeps_content(one);
    return true;
  }

  // Returns a block; 0: the function returned none, or a misaligned one.
  size_t get(const TriedFunction& one, size_t bytes) {
    const size_t block = call_tried(one, bytes, 0);
    return block % (one.what.has(Role::Alignment) ? kAlignment : kLeastAlignment) == 0 ? block : 0;
  }

  // large_bytes: two blocks of that size are tried, too, if there is memory for them. If the function ignores its size,
  // these overlap.
  bool gives_memory(const TriedFunction& one, size_t large_bytes) {
    constexpr size_t kSmall = sizeof kSizes / sizeof kSizes[0];
    size_t blocks[kSmall + 2] = {};
    size_t sizes[kSmall + 2] = {kSizes[0], kSizes[1], kSizes[2], large_bytes, large_bytes};
    const size_t count = large_bytes != 0 ? kSmall + 2 : kSmall;
    for (size_t i = 0; i < count; ++i) {
      blocks[i] = get(one, sizes[i]);
      if (blocks[i] == 0 && i < kSmall) return false;
      if (blocks[i] != 0) fill(blocks[i], sizes[i], static_cast<unsigned char>(i + 1));
    }
    for (size_t i = 0; i < count; ++i) {
      if (blocks[i] != 0 && !holds(blocks[i], sizes[i], static_cast<unsigned char>(i + 1))) return false;
    }
    for (size_t i = 0; i < count; ++i) {
      if (blocks[i] != 0) call_tried(*take_, sizes[i], blocks[i]);
    }
    return true;
  }

  bool takes_memory(const TriedFunction& one) {
    const size_t other = get(*give_, kSizes[1]);
    const size_t block = get(*give_, kSizes[1]);
    if (block == 0 || other == 0) return false;
    fill(other, kSizes[1], 0x55);
    call_tried(one, kSizes[1], block);
    const bool is_kept = holds(other, kSizes[1], 0x55);
    call_tried(*take_, kSizes[1], other);
    return is_kept;
  }

  bool keeps_content(const TriedFunction& one) {
    const size_t old = get(*give_, kSizes[0]);
    if (old == 0) return false;
    fill(old, kSizes[0], 0x33);
    const size_t given = call_tried(one, kSizes[2], old);
    if (given == 0) {  // there was no memory, or the block could not grow in place
      if (one.what.kind != Kind::ReallocateOrFree) call_tried(*take_, kSizes[0], old);
      return true;
    }
    const size_t block = given % kLeastAlignment == 0 ? given : 0;
    if (block == 0 || !holds(block, kSizes[0], 0x33)) return false;
    fill(block, kSizes[2], 0x44);
    call_tried(*take_, kSizes[2], block);
    return true;
  }

  const TriedFunction* functions_;
  uint32_t count_;
  const TriedFunction* give_ = nullptr;
  const TriedFunction* take_ = nullptr;
};

}  // namespace

bool asks_others(const TriedFunction* functions, uint32_t count) {
  uint32_t first = 0;
  while (first < count && (!is_plain(functions[first].what) || functions[first].is_small)) ++first;
  if (first == count) return false;
  t_flags |= kThreadSelfTest;
  const uint32_t before = g_self_test_events;
  for (const size_t bytes : kAskedSizes) call_tried(functions[first], bytes, 0);
  t_flags &= ~kThreadSelfTest;
  return g_self_test_events != before;
}

bool behaves_as_allocator(const TriedFunction* functions, uint32_t count) {
  t_flags |= kThreadSelfTest;
  const bool is_passed = Trial(functions, count).is_passed();
  t_flags &= ~kThreadSelfTest;
  return is_passed;
}

}  // namespace heapprof::agent
