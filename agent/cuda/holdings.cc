// agent/cuda/holdings.cc: a table of pools; one thread at a time queries the driver about them.
//
// The other threads set flags (is_wanted, wants_graphs), which the querying thread finds when it is done. If it wrote
// records during its queries, it might have to wait for space in its ring, and every other thread with it. So it writes
// the answers afterwards, and each amount carries the number of its query, by which the collector orders them.
#include "agent/cuda/holdings.h"

#include "agent/cuda/driver.h"
#include "agent/libc/raw.h"
#include "agent/process/arena.h"
#include "agent/process/lock.h"
#include "agent/process/state.h"
#include "agent/record/clock.h"
#include "agent/record/record.h"
#include "shared/events.h"

#include <string.h>

namespace heapprof::agent {

namespace {

using wire::Holding;

struct Pool {
  std::atomic<void*> handle;        // nullptr: a free slot
  std::atomic<uint32_t> device;     // set before the handle
  std::atomic<int64_t> room_bytes;  // idle bytes at the last query, less what was allocated since
  std::atomic<bool> is_wanted;      // a thread requests a query
  std::atomic<bool> is_left;        // it is not queried until something is allocated from it
  uint64_t held_bytes;              // this and the next: written only by the querying thread
  uint64_t most_bytes;
};

struct Told {
  uint64_t held_bytes;
  uint64_t most_bytes;
  uint32_t sequence;
};

constexpr uint32_t kDeviceNumbers = wire::kLastCudaDevice + 1;
constexpr size_t kSeenLaunches = 64;
constexpr uint64_t kMostTicks = 6'000'000'000;  // a few seconds
constexpr uint32_t kMostRounds = 1'000'000;     // if no clock may be read

// All state; a forked child starts with an empty one.
struct State {
  uint32_t session;
  std::atomic<uint32_t> pools;  // slots that were ever taken
  std::atomic<bool> has_more;   // some pools are not in the table
  std::atomic<bool> is_freed;
  std::atomic<bool> wants_graphs;
  std::atomic<bool> has_launched;
  std::atomic<uint64_t> graph_devices[kDeviceNumbers / 64];
  std::atomic<const void*> seen[kSeenLaunches];
  Pool pool[kMostPools];
  Told told[wire::kHoldings][kDeviceNumbers];
};
constinit State g_holdings{};

bool is_on() { return g_fork_page.state == AgentState::kOn; }

bool try_to_ask() {
  if (!try_lock(g_fork_page.asking_lock)) return false;
  if (g_holdings.session != g_session) {
    memset(static_cast<void*>(&g_holdings), 0, sizeof g_holdings);
    g_holdings.session = g_session;
  }
  return true;
}

// Becomes the querying thread. False: the current one does not finish.
bool wait_to_ask() {
  const uint64_t start = read_ticks();
  for (uint32_t round = 0; !try_to_ask(); ++round) {
    if (read_ticks() - start > kMostTicks || round > kMostRounds) {
      g_holdings.has_more.store(true, std::memory_order_relaxed);
      return false;
    }
    let_others_run(round);
  }
  return true;
}

// A full fence: if a thread sets a flag and then finds the lock taken, it set the flag before this exchange, so
// has_wanted() sees it afterwards.
void end_asking() { g_fork_page.asking_lock.exchange(0, std::memory_order_seq_cst); }

Pool* find_pool(const void* handle) {
  if (handle == nullptr || __atomic_load_n(&g_holdings.session, __ATOMIC_ACQUIRE) != g_session) return nullptr;
  const uint32_t count = g_holdings.pools.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i) {
    if (g_holdings.pool[i].handle.load(std::memory_order_acquire) == handle) return &g_holdings.pool[i];
  }
  return nullptr;
}

// pre: this is the querying thread
Pool* add_pool(void* handle, uint32_t device) {
  if (Pool* known = find_pool(handle)) return known;
  const uint32_t count = g_holdings.pools.load(std::memory_order_relaxed);
  uint32_t at = 0;
  while (at < count && g_holdings.pool[at].handle.load(std::memory_order_relaxed) != nullptr) ++at;
  if (at == kMostPools) {
    g_holdings.has_more.store(true, std::memory_order_relaxed);
    return nullptr;
  }
  Pool& pool = g_holdings.pool[at];
  pool.device.store(device, std::memory_order_relaxed);
  pool.room_bytes.store(0, std::memory_order_relaxed);
  pool.is_wanted.store(true, std::memory_order_relaxed);
  pool.is_left.store(false, std::memory_order_relaxed);
  pool.held_bytes = pool.most_bytes = 0;
  pool.handle.store(handle, std::memory_order_release);
  if (at == count) g_holdings.pools.store(count + 1, std::memory_order_release);
  return &pool;
}

// The answers to be recorded after the queries. If there is no room for an answer, its query is made again.
struct News {
  struct Item {
    Holding holding;
    uint32_t device;
  };
  Item items[16];
  DeviceRecord records[16];
  uint32_t count = 0;

  bool is_full() const { return count == sizeof items / sizeof items[0]; }
  // pre: this is the querying thread
  void add(Holding holding, uint32_t device, uint64_t held_bytes, uint64_t most_bytes) {
    Told& told = g_holdings.told[static_cast<uint32_t>(holding)][device];
    if (most_bytes < told.most_bytes) most_bytes = told.most_bytes;
    if (held_bytes == told.held_bytes && most_bytes == told.most_bytes) return;
    told = {held_bytes, most_bytes, told.sequence + 1};
    uint32_t at = 0;
    while (at < count && (items[at].holding != holding || items[at].device != device)) ++at;
    if (at == count) ++count;
    items[at] = {holding, device};
    const bool is_partial = holding == Holding::kPools && g_holdings.has_more.load(std::memory_order_relaxed);
    records[at] = {wire::DeviceOperation::kHold, device,
                   wire::pack_holding(holding, told.sequence, is_partial, held_bytes), wire::pack_free(most_bytes), 0};
  }
  void tell(HookFrame hook_frame) const {
    for (uint32_t i = 0; i < count; ++i) {
      announce_device(records[i].device);
      record_device(records[i], hook_frame);
    }
  }
};

// Sums up a device's pools. A pool that was not queried just now counts with what it held at its last query. pre: this
// is the querying thread
void sum_up(uint32_t device, const Pool* changed, uint64_t changed_most_bytes, News* news) {
  uint64_t held_bytes = 0;
  uint64_t most_bytes = 0;
  const uint32_t count = g_holdings.pools.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < count; ++i) {
    const Pool& pool = g_holdings.pool[i];
    if (pool.handle.load(std::memory_order_relaxed) == nullptr ||
        pool.device.load(std::memory_order_relaxed) != device) {
      continue;
    }
    held_bytes += pool.held_bytes;
    most_bytes += &pool == changed ? changed_most_bytes : pool.held_bytes;
  }
  news->add(Holding::kPools, device, held_bytes, most_bytes > held_bytes ? most_bytes : held_bytes);
}

void ask_wanted_pools(News* news) {
  const uint32_t count = g_holdings.pools.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count && !news->is_full(); ++i) {
    Pool& pool = g_holdings.pool[i];
    void* const handle = pool.handle.load(std::memory_order_acquire);
    if (handle == nullptr || pool.is_left.load(std::memory_order_relaxed) ||
        !pool.is_wanted.exchange(false, std::memory_order_seq_cst)) {
      continue;
    }
    CudaPoolNumbers numbers;
    if (!ask_pool_numbers(handle, &numbers)) continue;
    const uint64_t most_bytes = numbers.most_bytes > pool.most_bytes ? numbers.most_bytes : numbers.held_bytes;
    pool.held_bytes = numbers.held_bytes;
    if (numbers.most_bytes > pool.most_bytes) pool.most_bytes = numbers.most_bytes;
    pool.room_bytes.store(static_cast<int64_t>(numbers.held_bytes - numbers.used_bytes), std::memory_order_relaxed);
    sum_up(pool.device.load(std::memory_order_relaxed), &pool, most_bytes, news);
  }
}

void ask_wanted_graphs(News* news) {
  if (!g_holdings.wants_graphs.exchange(false, std::memory_order_seq_cst)) return;
  for (uint32_t device = wire::kFirstCudaDevice; device <= wire::kLastCudaDevice && !news->is_full(); ++device) {
    const uint64_t devices = g_holdings.graph_devices[device / 64].load(std::memory_order_relaxed);
    CudaGraphNumbers numbers;
    if ((devices >> device % 64 & 1) == 0 || !ask_graph_numbers(device, &numbers)) continue;
    news->add(Holding::kGraphsUsed, device, numbers.used_bytes, numbers.most_used_bytes);
    if (!news->is_full()) news->add(Holding::kGraphsReserved, device, numbers.held_bytes, numbers.most_held_bytes);
  }
  if (news->is_full()) g_holdings.wants_graphs.store(true, std::memory_order_seq_cst);
}

bool has_wanted() {
  if (g_holdings.wants_graphs.load(std::memory_order_seq_cst)) return true;
  const uint32_t count = g_holdings.pools.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i) {
    const Pool& pool = g_holdings.pool[i];
    if (pool.is_wanted.load(std::memory_order_seq_cst) && pool.handle.load(std::memory_order_relaxed) != nullptr &&
        !pool.is_left.load(std::memory_order_relaxed)) {
      return true;
    }
  }
  return false;
}

// Queries until no flag is left. A thread that finds another one querying need not wait: the other will find its flag.
[[gnu::noinline]] void ask_wanted(HookFrame hook_frame) {
  while (is_on() && has_wanted() && try_to_ask()) {
    News news;
    {
      const RelaxedCapture relaxed;
      ask_wanted_pools(&news);
      ask_wanted_graphs(&news);
    }
    end_asking();
    news.tell(hook_frame);
  }
}

// Loads before it stores, so that it does not take another thread's cache line for nothing.
void raise(std::atomic<bool>* flag) {
  if (!flag->load(std::memory_order_relaxed)) flag->store(true, std::memory_order_relaxed);
}

}  // namespace

PoolSlot find_pool_slot(uint64_t address) {
  void* const handle = pool_of_pointer(address);
  Pool* pool = find_pool(handle);
  if (pool == nullptr) {
    const uint32_t device = device_of_pool_memory(address);
    if (handle == nullptr || !is_on()) return {device, kMostPools};
    if (!wait_to_ask()) return {device, kMostPools};
    pool = add_pool(handle, device);
    end_asking();
    if (pool == nullptr) return {device, kMostPools};
  }
  if (pool->is_left.load(std::memory_order_relaxed)) {
    pool->room_bytes.store(0, std::memory_order_relaxed);
    pool->is_left.store(false, std::memory_order_relaxed);
  }
  return {pool->device.load(std::memory_order_relaxed), static_cast<uint32_t>(pool - g_holdings.pool)};
}

uint32_t device_of_pool(const void* handle) {
  const Pool* pool = find_pool(handle);
  return pool == nullptr ? wire::kUnknownCudaDevice : pool->device.load(std::memory_order_relaxed);
}

void note_pool_block(const PoolSlot& slot, uint64_t size_bytes, HookFrame hook_frame) {
  raise(&g_holdings.is_freed);  // the idle room may be fragmented: then the pool grows although it seems large enough
  if (slot.index == kMostPools) return;
  Pool& pool = g_holdings.pool[slot.index];
  const auto bytes = static_cast<int64_t>(size_bytes);
  if (pool.room_bytes.fetch_sub(bytes, std::memory_order_relaxed) >= bytes) return;
  pool.is_wanted.store(true, std::memory_order_seq_cst);
  ask_wanted(hook_frame);
}

void note_pool_free() { raise(&g_holdings.is_freed); }

void ask_pool(void* pool, HookFrame hook_frame) {
  Pool* const known = find_pool(pool);
  if (known == nullptr) return;
  known->is_wanted.store(true, std::memory_order_seq_cst);
  ask_wanted(hook_frame);
}

bool forget_pool(void* pool, uint32_t* device, HookFrame hook_frame) {
  if (find_pool(pool) == nullptr || !is_on()) return false;
  ask_pool(pool, hook_frame);
  News news;
  const bool is_asking = wait_to_ask();
  Pool* const known = find_pool(pool);
  if (known != nullptr) {
    *device = known->device.load(std::memory_order_relaxed);
    known->handle.store(nullptr, std::memory_order_release);
    if (is_asking) sum_up(*device, nullptr, 0, &news);
  }
  if (is_asking) end_asking();
  news.tell(hook_frame);
  return known != nullptr;
}

void leave_pools_of(uint32_t device) {
  if (g_holdings.pools.load(std::memory_order_acquire) == 0 || !is_on()) return;
  const uint32_t count = g_holdings.pools.load(std::memory_order_relaxed);
  for (uint32_t i = 0; i < count; ++i) {
    Pool& pool = g_holdings.pool[i];
    if (pool.device.load(std::memory_order_relaxed) == device) pool.is_left.store(true, std::memory_order_relaxed);
  }
  if (wait_to_ask()) end_asking();  // from here on no earlier query is in progress
}

void remember_pool(void* pool, uint32_t device, HookFrame hook_frame) {
  if (!wait_to_ask()) return;
  add_pool(pool, device);
  end_asking();
  ask_pool(pool, hook_frame);
}

void note_graph_memory(uint32_t device) {
  if (device < wire::kFirstCudaDevice || device > wire::kLastCudaDevice || !is_on()) return;
  if (__atomic_load_n(&g_holdings.session, __ATOMIC_ACQUIRE) != g_session) {
    if (!wait_to_ask()) return;
    end_asking();
  }
  g_holdings.graph_devices[device / 64].fetch_or(uint64_t{1} << device % 64, std::memory_order_relaxed);
}

namespace {

bool has_graph_memory() {
  uint64_t devices = 0;
  for (const std::atomic<uint64_t>& some : g_holdings.graph_devices) devices |= some.load(std::memory_order_relaxed);
  return devices != 0;
}

}  // namespace

void ask_graphs(HookFrame hook_frame) {
  if (!has_graph_memory()) return;
  g_holdings.wants_graphs.store(true, std::memory_order_seq_cst);
  ask_wanted(hook_frame);
}

void note_graph_launch(const void* executable, HookFrame hook_frame) {
  if (!has_graph_memory()) return;
  raise(&g_holdings.has_launched);
  std::atomic<const void*>& seen = g_holdings.seen[reinterpret_cast<uint64_t>(executable) / 16 % kSeenLaunches];
  if (seen.exchange(executable, std::memory_order_relaxed) != executable) ask_graphs(hook_frame);
}

void note_wait(HookFrame hook_frame) {
  const bool has_freed = g_holdings.is_freed.load(std::memory_order_relaxed);
  const bool has_launched = g_holdings.has_launched.load(std::memory_order_relaxed);
  if (!has_freed && !has_launched) return;
  if (__atomic_load_n(&g_holdings.session, __ATOMIC_ACQUIRE) != g_session) return;
  g_holdings.is_freed.store(false, std::memory_order_relaxed);
  g_holdings.has_launched.store(false, std::memory_order_relaxed);
  const uint32_t count = g_holdings.pools.load(std::memory_order_acquire);
  for (uint32_t i = 0; i < count; ++i) g_holdings.pool[i].is_wanted.store(true, std::memory_order_seq_cst);
  if (has_graph_memory()) g_holdings.wants_graphs.store(true, std::memory_order_seq_cst);
  ask_wanted(hook_frame);
}

}  // namespace heapprof::agent
