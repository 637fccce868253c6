// tests/targets/malloc/oracle/worker.cc: random work. Sizes are odd, contents are marked and checked, a third of it
// crosses threads.
#include "worker.h"

#include <malloc.h>
#include <stdlib.h>

namespace oracle {
namespace {

constexpr size_t kTooLarge = ~size_t{0} - 4096;
constexpr size_t kMarkedBytes = 8;

// The first bytes of a block hold its address and size, mixed: a profiler that hands a block out twice is found at
// once.
uint64_t mark_of(const Block& block) {
  return reinterpret_cast<uint64_t>(block.address) * 0x9e3779b97f4a7c15 ^ block.asked_bytes;
}

void write_mark(const Block& block) {
  if (block.asked_bytes < kMarkedBytes) return;
  uint64_t mark = mark_of(block);
  memcpy(block.address, &mark, kMarkedBytes);
  if (block.asked_bytes < 65536) static_cast<char*>(block.address)[block.asked_bytes - 1] = static_cast<char>(mark);
}

void check_mark(const Block& block) {
  if (block.asked_bytes < kMarkedBytes) return;
  uint64_t found;
  memcpy(&found, block.address, kMarkedBytes);
  // In a block of exactly 8 bytes the last one was written over.
  uint64_t mask = block.asked_bytes == kMarkedBytes ? ~uint64_t{0} >> 8 : ~uint64_t{0};
  if ((found & mask) != (mark_of(block) & mask)) die("a block does not hold what was written into it");
}

}  // namespace

void Worker::start(uint32_t thread, uint64_t seed, const Settings& settings, Box* boxes, size_t log_room) {
  thread_ = thread;
  random_state_ = seed * 0x10001 + thread;
  settings_ = settings;
  boxes_ = boxes;
  log.entries = map_array<Entry>(log_room);
  log.room = log_room;
}

size_t Worker::random_size() {
  Random random(random_state_++);
  uint64_t dice = random.below(1000);
  if (dice < 30) return settings_.as_valgrind || settings_.on_other_allocator ? 1 : 0;
  if (settings_.huge && dice < 32) return (size_t{4} << 30) + random.below(size_t{1} << 30);
  if (dice < 700) return 1 + random.below(512);
  if (dice < 900) return 1 + random.below(4096);
  if (dice < 995) return 1 + random.below(65536);
  return 1 + random.below(1 << 20);
}

// Half of the time one of eight: real programs repeat themselves.
uint32_t Worker::random_stack() {
  Random random(random_state_++);
  return static_cast<uint32_t>(random.one_in(2) ? random.below(8) * 37 % settings_.stacks
                                                : random.below(settings_.stacks));
}

bool Worker::allocate(Block* block) {
  Random random(random_state_++);
  Kind kind;
  do {
    kind = static_cast<Kind>(random.below(kKinds));
  } while (kind == Kind::k_new_throwing ||
           ((settings_.as_valgrind || settings_.on_other_allocator) && kind == Kind::k_pvalloc));
  return allocate_as(block, kind, random_size());
}

bool Worker::allocate_as(Block* block, Kind kind, size_t asked_bytes) {
  Random random(random_state_++);
  size_t alignment = is_aligned_kind(kind) ? size_t{16} << random.below(9) : 0;  // 16 … 4096
  if (settings_.as_valgrind || settings_.on_other_allocator) asked_bytes = recorded_bytes(kind, asked_bytes, alignment);
  Request request = {kind, nullptr, 1, asked_bytes, alignment};
  if ((kind == Kind::k_calloc || kind == Kind::k_reallocarray) && asked_bytes % 3 == 0) {
    request.count = 3;
    request.size_bytes = asked_bytes / 3;
  }
  uint32_t stack = random_stack();
  uint64_t called = now();
  void* address = allocate_on_stack(stack, request);
  uint64_t returned = now();
  if (address == nullptr) {
    ++log.failures;
    return false;
  }
  // mimalloc 2.0.9 gives 1,024 bytes that are to be aligned to as many at other addresses.
  const bool is_checked = alignment != 0 && !settings_.on_other_allocator;
  if (is_checked && reinterpret_cast<uintptr_t>(address) % alignment != 0) die("a block is not aligned");
  uint32_t key = static_cast<uint32_t>(kind) * settings_.stacks + stack;
  *block = {address, asked_bytes,     recorded_bytes(kind, asked_bytes, alignment), alignment, ++serial_, thread_,
            key,     release_of(kind)};
  log.add({called, returned, 0, block->recorded_bytes, kNoKey, key, Temporary::kNo, 0});
  if (kind == Kind::k_calloc && asked_bytes > 0 && static_cast<char*>(address)[asked_bytes - 1] != 0)
    die("calloc gave a dirty block");
  write_mark(*block);
  return true;
}

Temporary Worker::is_temporary(const Block& block) const {
  if (block.owner != thread_) return Temporary::kUnknown;
  return block.serial == serial_ ? Temporary::kYes : Temporary::kNo;
}

void Worker::end_entry(const Block& block, uint64_t called, uint64_t returned) {
  ended_bytes_ += block.recorded_bytes;
  ++ended_blocks_;
  log.add({called, returned, block.recorded_bytes, 0, block.key, kNoKey, is_temporary(block), 0});
}

void Worker::release(const Block& block) {
  check_mark(block);
  Random random(random_state_++);
  if (malloc_usable_size(block.address) < block.asked_bytes) die("a block is smaller than asked");
  uint64_t called = now();
  release_block(block.address, block.release, block.asked_bytes, block.alignment, random.next());
  end_entry(block, called, now());
}

void Worker::reallocate(Block* block) {
  Random random(random_state_++);
  switch (random.below(8)) {
    case 0: return reallocate_to(block, 0);
    case 1: return reallocate_to(block, kTooLarge);
    case 2: return reallocate_to(block, block->asked_bytes);
    case 3: return reallocate_to(block, block->asked_bytes / 2 + 1);
    case 4: return reallocate_to(block, block->asked_bytes + 1 + random.below(100));
    default: return reallocate_to(block, random_size());
  }
}

void Worker::reallocate_to(Block* block, size_t asked_bytes) {
  check_mark(*block);
  Random random(random_state_++);
  bool is_array = random.one_in(3);
  Request request = {is_array ? Kind::k_reallocarray : Kind::k_realloc, block->address, 1, asked_bytes, 0};
  if (is_array && asked_bytes == kTooLarge) request.count = 3;  // 3 · size does not fit in 64 bits
  uint32_t stack = random_stack();
  uint64_t called = now();
  void* address = allocate_on_stack(stack, request);
  uint64_t returned = now();
  Block old = *block;
  if (address == nullptr) {
    if (asked_bytes != 0) {
      ++(request.count > 1 ? log.failures : log.failed_reallocs);  // an overflow is refused before realloc is called
      check_mark(old);
      return;
    }
    ++log.reallocs_to_nothing;
    block->address = nullptr;
    ended_bytes_ += old.recorded_bytes;
    ++ended_blocks_;
    return log.add({called, returned, old.recorded_bytes, 0, old.key, kNoKey, is_temporary(old), 1});
  }
  uint32_t key = static_cast<uint32_t>(request.kind) * settings_.stacks + stack;
  *block = {address, asked_bytes, asked_bytes, 0, ++serial_, thread_, key, Release::kByFree};
  log.add({called, returned, old.recorded_bytes, asked_bytes, old.key, key, Temporary::kNo, 1});
  ended_bytes_ += old.recorded_bytes;
  ++ended_blocks_;
  if (old.asked_bytes >= kMarkedBytes && asked_bytes > kMarkedBytes) {
    uint64_t found;
    memcpy(&found, address, kMarkedBytes);
    uint64_t mask = old.asked_bytes == kMarkedBytes ? ~uint64_t{0} >> 8 : ~uint64_t{0};
    if ((found & mask) != (mark_of(old) & mask)) die("realloc lost the contents");
  }
  write_mark(*block);
}

// Calls that must refuse, and leave no trace in a profile.
void Worker::try_failure() {
  if (settings_.on_other_allocator) return;
  Random random(random_state_++);
  constexpr Kind kinds[] = {Kind::k_malloc,
                            Kind::k_calloc,
                            Kind::k_realloc,
                            Kind::k_reallocarray,
                            Kind::k_aligned_alloc,
                            Kind::k_memalign,
                            Kind::k_posix_memalign,
                            Kind::k_valloc,
                            Kind::k_pvalloc,
                            Kind::k_new_nothrow,
                            Kind::k_new_array_nothrow,
                            Kind::k_new_aligned_nothrow,
                            Kind::k_new_array_aligned_nothrow};
  Kind kind = kinds[random.below(sizeof(kinds) / sizeof(kinds[0]))];
  if (settings_.as_valgrind && kind == Kind::k_pvalloc) return;
  // Aligned operator new rounds SIZE_MAX up to 0 in libstdc++.
  size_t asked_bytes = random.one_in(2) && recorded_bytes(kind, 1, 64) != 64 ? ~size_t{0} : kTooLarge;
  Request request = {kind, nullptr, 1, asked_bytes, is_aligned_kind(kind) ? size_t{64} : 0};
  if (kind == Kind::k_calloc || kind == Kind::k_reallocarray) request.count = 1 + random.below(3);
  uint32_t stack = random_stack();
  uint64_t called = now();
  if (allocate_on_stack(stack, request) != nullptr) die("a request that cannot be met was met");
  ++log.failures;
  // libstdc++'s nothrow forms catch what the plain ones throw.
  if (release_of(kind) != Release::kByFree && !settings_.as_valgrind) add_exception(kind, stack, called);
  free(nullptr);
  ::operator delete(nullptr);
}

// A refused operator new throws, and the exception is a block of its own for a moment.
void Worker::throw_once() {
  if (settings_.as_valgrind || settings_.on_other_allocator) return;
  uint32_t stack = random_stack();
  Request request = {Kind::k_new_throwing, nullptr, 1, kTooLarge, 0};
  uint64_t called = now();
  if (allocate_on_stack(stack, request) != nullptr) die("operator new gave what it cannot have");
  add_exception(Kind::k_new_throwing, stack, called);
}

void Worker::add_exception(Kind kind, uint32_t stack, uint64_t called) {
  uint64_t returned = now();
  uint32_t key = static_cast<uint32_t>(kind) * settings_.stacks + stack;
  ++serial_;
  log.add({called, returned, 0, kExceptionBytes, kNoKey, key, Temporary::kNo, 0});
  log.add({called, returned, kExceptionBytes, 0, key, kNoKey, Temporary::kYes, 0});
  ended_bytes_ += kExceptionBytes;
  ++ended_blocks_;
}

void Worker::put(Block* held) {
  Random random(random_state_++);
  Box& box = boxes_[random.below(kBoxes)];
  uint32_t empty = 0;
  if (!box.state.compare_exchange_strong(empty, 1, std::memory_order_acquire)) return;
  box.block = *held;
  held->address = nullptr;
  box.state.store(2, std::memory_order_release);
}

void Worker::take() {
  Random random(random_state_++);
  Box& box = boxes_[random.below(kBoxes)];
  uint32_t full = 2;
  if (!box.state.compare_exchange_strong(full, 1, std::memory_order_acquire)) return;
  Block block = box.block;
  box.state.store(0, std::memory_order_release);
  if (!settings_.as_valgrind && block.release == Release::kByFree && random.one_in(3)) reallocate(&block);
  if (block.address != nullptr) release(block);
}

void Worker::work(uint64_t operations) {
  for (uint64_t i = 0; i < operations; ++i) {
    Random random(random_state_++);
    Block& held = held_[random.below(kHeld)];
    uint64_t dice = random.below(1000);
    if (dice < 480) {
      if (held.address != nullptr) release(held);
      held.address = nullptr;
      allocate(&held);
    } else if (dice < 640) {
      if (held.address != nullptr) release(held);
      held.address = nullptr;
    } else if (dice < 780) {
      if (!settings_.as_valgrind && held.address != nullptr && held.release == Release::kByFree) reallocate(&held);
    } else if (dice < 860) {
      if (held.address != nullptr) put(&held);
    } else if (dice < 940) {
      take();
    } else if (dice < 980) {
      Block block;
      if (allocate(&block)) release(block);
    } else if (dice < 995) {
      try_failure();
    } else {
      throw_once();
    }
  }
}

void Worker::make_cap(uint64_t ended_bytes, uint64_t ended_blocks) {
  if (ended_blocks == 0) return;
  Block* small = map_array<Block>(ended_blocks + 1);
  uint64_t made = 0;
  while (made <= ended_blocks) made += allocate_as(&small[made], Kind::k_malloc, 1) ? 1 : 0;
  for (uint64_t i = 0; i < made; ++i) release(small[i]);
  munmap(small, (ended_blocks + 1) * sizeof(Block));
  Block large;
  // Above all that ended, the small blocks included, and by a different amount each time.
  if (!allocate_as(&large, Kind::k_malloc, ended_bytes + made + 1 + Random(random_state_++).below(1 << 20)))
    die("no room for the cap");
  Block last;
  if (allocate_as(&last, Kind::k_calloc, 1237)) release(last);
  release(large);
  take_ended(&ended_bytes, &ended_blocks);
}

void Worker::take_ended(uint64_t* ended_bytes, uint64_t* ended_blocks) {
  *ended_bytes = ended_bytes_;
  *ended_blocks = ended_blocks_;
  ended_bytes_ = ended_blocks_ = 0;
}

void Worker::finish() {
  for (uint32_t i = 0; i < kHeld; ++i) {
    if (held_[i].address == nullptr || i % 4 == 3) continue;
    release(held_[i]);
    held_[i].address = nullptr;
  }
}

}  // namespace oracle
