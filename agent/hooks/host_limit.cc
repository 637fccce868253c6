// agent/hooks/host_limit.cc: counts usable bytes before and after each call of the allocator, and refuses requests that
// do not fit.
//
// The size of a block is known only when it exists. So a request that can never fit is refused before the call, and a
// block that turns out not to fit is freed again. A realloc cannot be undone. So, if there is much room, it first
// reserves more than its block can take, and corrects that afterwards; near the limit, the agent allocates, copies and
// frees instead. A request that does not fit during such a reservation waits for its end: the reservation is short, and
// may be all that is in the way.
#include "agent/hooks/host_limit.h"

#include "agent/hooks/hook.h"
#include "agent/hooks/real.h"
#include "shared/events.h"

#include <string.h>

#include <atomic>

namespace heapprof::agent {

namespace {

RealFunctions g_unlimited;
size_t (*g_usable_size)(void*) = nullptr;
uint64_t g_limit_bytes = UINT64_MAX;
std::atomic<uint64_t> g_charged_bytes{0};   // usable bytes of all live blocks, plus what is reserved
std::atomic<uint32_t> g_reservations{0};    // reallocs in progress, each with more reserved than it will need
std::atomic<uint64_t> g_reserved_bytes{0};  // what those have reserved in all
// not forever: a signal handler may have interrupted the thread that is waited for
constexpr uint32_t kMostWaits = 10'000;

bool may_fit(size_t size_bytes);
bool charge_block(void* block);  // false: it did not fit, and is freed
void drop_block(void* block);    // before it is freed
void note_heap_refusal(size_t size_bytes, HookFrame frame);

uint64_t usable_bytes(void* block) { return block == nullptr ? 0 : g_usable_size(block); }

bool try_reserve(uint64_t size_bytes) {
  uint64_t charged = g_charged_bytes.load(std::memory_order_relaxed);
  do {
    if (charged > g_limit_bytes || size_bytes > g_limit_bytes - charged) return false;
  } while (!g_charged_bytes.compare_exchange_weak(charged, charged + size_bytes, std::memory_order_relaxed));
  return true;
}

bool may_fit_soon(uint64_t size_bytes);

bool reserve_heap(uint64_t size_bytes) {
  for (uint32_t waits = 0; !try_reserve(size_bytes); ++waits) {
    if (waits == kMostWaits || !may_fit_soon(size_bytes)) return try_reserve(size_bytes);
    let_others_run(waits);
  }
  return true;
}

// The program may also free blocks that were never counted (a library's that bypasses the hooks).
void return_heap(uint64_t size_bytes) {
  uint64_t charged = g_charged_bytes.load(std::memory_order_relaxed);
  while (!g_charged_bytes.compare_exchange_weak(charged, charged - (size_bytes < charged ? size_bytes : charged),
                                                std::memory_order_relaxed)) {
  }
}

// A forked child corrects its sum once: threads that were in a realloc are not there any more, and give nothing back.
void begin_own_sum() {
  if (g_fork_page.has_own_sum.exchange(1, std::memory_order_relaxed) != 0) return;
  return_heap(g_reserved_bytes.exchange(0, std::memory_order_relaxed));
  g_reservations.store(0, std::memory_order_relaxed);
}

// True if the request would fit once every reservation is given back: then it is worth waiting.
bool may_fit_soon(uint64_t size_bytes) {
  if (g_reservations.load(std::memory_order_acquire) == 0) return false;
  const uint64_t reserved = g_reserved_bytes.load(std::memory_order_relaxed);
  const uint64_t charged = g_charged_bytes.load(std::memory_order_relaxed);
  const uint64_t least = charged > reserved ? charged - reserved : 0;
  return least <= g_limit_bytes && size_bytes <= g_limit_bytes - least;
}

void* refuse(size_t size_bytes, HookFrame frame) {
  note_heap_refusal(size_bytes, frame);
  errno = ENOMEM;
  return nullptr;
}

// What every allocating function does; call() calls the real one.
template <typename Call>
[[gnu::always_inline]] inline void* allocate_limited(size_t size_bytes, HookFrame frame, Call&& call) {
  if (!may_fit(size_bytes)) return refuse(size_bytes, frame);
  void* block = call();
  if (block == nullptr || charge_block(block)) return block;
  return refuse(size_bytes, frame);
}

void* limited_malloc(size_t size) {
  return allocate_limited(size, HEAPPROF_HOOK_FRAME(), [&] { return g_unlimited.malloc(size); });
}
void* limited_calloc(size_t count, size_t size) {
  size_t bytes;
  if (__builtin_mul_overflow(count, size, &bytes)) return g_unlimited.calloc(count, size);
  return allocate_limited(bytes, HEAPPROF_HOOK_FRAME(), [&] { return g_unlimited.calloc(count, size); });
}
void* limited_memalign(size_t alignment, size_t size) {
  return allocate_limited(size, HEAPPROF_HOOK_FRAME(), [&] { return g_unlimited.memalign(alignment, size); });
}
void* limited_aligned_alloc(size_t alignment, size_t size) {
  return allocate_limited(size, HEAPPROF_HOOK_FRAME(), [&] { return g_unlimited.aligned_alloc(alignment, size); });
}
void* limited_valloc(size_t size) {
  return allocate_limited(size, HEAPPROF_HOOK_FRAME(), [&] { return g_unlimited.valloc(size); });
}
void* limited_pvalloc(size_t size) {
  return allocate_limited(size, HEAPPROF_HOOK_FRAME(), [&] { return g_unlimited.pvalloc(size); });
}
int limited_posix_memalign(void** out, size_t alignment, size_t size) {
  int error = 0;
  const int before = errno;  // posix_memalign returns its error, and does not change errno
  void* fresh = nullptr;
  void* block = allocate_limited(size, HEAPPROF_HOOK_FRAME(), [&] {
    error = g_unlimited.posix_memalign(&fresh, alignment, size);
    return error == 0 ? fresh : nullptr;
  });
  errno = before;
  if (error != 0) return error;
  if (block == nullptr && size != 0) return ENOMEM;
  *out = block;
  return 0;
}

void limited_free(void* block) {
  drop_block(block);
  g_unlimited.free(block);
}
void limited_free_sized(void* block, size_t size) {
  drop_block(block);
  g_unlimited.free_sized(block, size);
}
void limited_free_aligned_sized(void* block, size_t alignment, size_t size) {
  drop_block(block);
  g_unlimited.free_aligned_sized(block, alignment, size);
}

// An upper bound of the usable bytes that any allocator gives for a requested size.
uint64_t most_usable(size_t size_bytes) {
  constexpr uint64_t kMore = 64 << 10;
  return size_bytes < UINT64_MAX / 4 ? 2 * static_cast<uint64_t>(size_bytes) + kMore : UINT64_MAX / 2;
}

// pre: more bytes than the fresh block can take are reserved, in addition to the old block
void* realloc_with_room(void* block, size_t size, uint64_t old_bytes, uint64_t reserved_bytes) {
  void* fresh = g_unlimited.realloc(block, size);
  const uint64_t fresh_bytes = usable_bytes(fresh);
  return_heap(fresh == nullptr ? reserved_bytes : reserved_bytes + old_bytes - fresh_bytes);
  g_reserved_bytes.fetch_sub(reserved_bytes, std::memory_order_relaxed);
  g_reservations.fetch_sub(1, std::memory_order_release);
  return fresh;
}

// Moves the block, as realloc may do. While both blocks exist, the old one does not count.
void* move_block(void* block, size_t size, uint64_t old_bytes, HookFrame frame) {
  void* fresh = g_unlimited.malloc(size);
  if (fresh == nullptr) return nullptr;
  const uint64_t fresh_bytes = usable_bytes(fresh);
  if (fresh_bytes > old_bytes && !reserve_heap(fresh_bytes - old_bytes)) {
    g_unlimited.free(fresh);
    return refuse(size, frame);
  }
  if (fresh_bytes < old_bytes) return_heap(old_bytes - fresh_bytes);
  memcpy(fresh, block, old_bytes < size ? old_bytes : size);
  g_unlimited.free(block);
  return fresh;
}

void* limited_realloc(void* block, size_t size) {
  HookFrame frame = HEAPPROF_HOOK_FRAME();
  if (block == nullptr) return allocate_limited(size, frame, [&] { return g_unlimited.realloc(nullptr, size); });
  if (HEAPPROF_UNLIKELY(g_fork_page.has_own_sum.load(std::memory_order_relaxed) == 0)) begin_own_sum();
  const uint64_t old_bytes = usable_bytes(block);
  if (size == 0) {
    void* fresh = g_unlimited.realloc(block, 0);
    return_heap(old_bytes);
    g_charged_bytes.fetch_add(usable_bytes(fresh), std::memory_order_relaxed);
    return fresh;
  }
  if (size > old_bytes && !may_fit(size - old_bytes)) return refuse(size, frame);
  g_reservations.fetch_add(1, std::memory_order_acquire);
  const uint64_t reserved_bytes = most_usable(size);
  if (try_reserve(reserved_bytes)) {
    g_reserved_bytes.fetch_add(reserved_bytes, std::memory_order_relaxed);
    return realloc_with_room(block, size, old_bytes, reserved_bytes);
  }
  g_reservations.fetch_sub(1, std::memory_order_release);
  return move_block(block, size, old_bytes, frame);
}

// size_bytes is the requested size. The block may be larger, even for a request of 0 bytes; that is checked once it
// exists.
bool may_fit(size_t size_bytes) {
  if (HEAPPROF_UNLIKELY(g_fork_page.has_own_sum.load(std::memory_order_relaxed) == 0)) begin_own_sum();
  if (size_bytes > g_limit_bytes) return false;
  for (uint32_t waits = 0; waits < kMostWaits; ++waits) {
    const uint64_t charged = g_charged_bytes.load(std::memory_order_relaxed);
    if (charged <= g_limit_bytes && size_bytes <= g_limit_bytes - charged) return true;
    if (!may_fit_soon(size_bytes)) break;
    let_others_run(waits);
  }
  const uint64_t charged = g_charged_bytes.load(std::memory_order_relaxed);
  return charged <= g_limit_bytes && size_bytes <= g_limit_bytes - charged;
}

bool charge_block(void* block) {
  if (reserve_heap(usable_bytes(block))) return true;
  g_unlimited.free(block);
  return false;
}

void drop_block(void* block) { return_heap(usable_bytes(block)); }

void note_heap_refusal(size_t size_bytes, HookFrame frame) {
  const uint64_t charged = g_charged_bytes.load(std::memory_order_relaxed);
  record_device({wire::DeviceOperation::kRefuse, wire::kHostDevice, wire::pack_refusal(ENOMEM, true),
                 wire::pack_free(charged < g_limit_bytes ? g_limit_bytes - charged : 0), size_bytes},
                hook_behind(frame));
}

}  // namespace

bool start_host_limit(uint64_t limit_bytes, const link_map* malloc_object) {
  const Definition usable = find_behind_agent("malloc_usable_size");
  if (usable.address == nullptr || usable.object != malloc_object) return false;
  g_usable_size = reinterpret_cast<size_t (*)(void*)>(usable.address);
  g_limit_bytes = limit_bytes;
  g_fork_page.has_own_sum.store(1, std::memory_order_relaxed);
  g_unlimited = g_real;
  RealFunctions limited = g_real;
  // Blocks of another family cannot be measured. The agent's own stand-ins call one of the limited functions.
#define X(result, name, params, args) \
  if (find_behind_agent(#name).object == malloc_object) limited.name = limited_##name;
#include "shared/hooks.def"
#undef X
  g_real = limited;
  return true;
}

}  // namespace heapprof::agent
