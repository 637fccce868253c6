// agent/cuda/device_limit.cc: a sum for each device, and a table of the memory in it.
//
// One table with open addressing holds memory, handles and mappings: a program has thousands of these at most, and each
// call takes microseconds. When mappings or contexts end, the whole table is searched.
#include "agent/cuda/device_limit.h"

#include "agent/libc/raw.h"
#include "agent/process/arena.h"
#include "agent/process/lock.h"
#include "agent/process/state.h"
#include "shared/events.h"

#include <string.h>

namespace heapprof::agent {

namespace {

enum class Kind : uint32_t { kFree = 0, kAddress, kHandle, kMapping, kUnmapping, kEnding };

struct Entry {
  uint64_t key;
  uint64_t size_bytes;
  uint64_t context;  // the context whose end ends it; for a mapping, its handle
  Kind kind;
  uint32_t device;
  uint64_t references;  // for a handle: references and mappings
};

constexpr uint64_t kFirstEntries = 4096;

struct Table {
  Entry* entries;
  uint64_t capacity;  // a power of two
  uint64_t used;
  uint32_t session;  // of the process that created it (g_session): a forked child creates its own
};
Table g_table;
uint64_t g_charged_bytes[wire::kDeviceLimits];

class Locked {
 public:
  Locked() {
    for (uint32_t round = 0; !try_lock(g_fork_page.device_lock); ++round) let_others_run(round);
    if (g_table.session == g_session) return;
    g_table = {nullptr, 0, 0,
               g_session};  // the parent's table may be half built; leaving its pages mapped costs little
    memset(g_charged_bytes, 0, sizeof g_charged_bytes);
  }
  ~Locked() { unlock(g_fork_page.device_lock); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;
};

bool is_limited(uint32_t device) { return device_limit(device) != UINT64_MAX; }
uint64_t& charged(uint32_t device) { return g_charged_bytes[device - wire::kFirstCudaDevice]; }

bool fits(uint32_t device, uint64_t size_bytes) {
  const uint64_t limit = device_limit(device);
  return charged(device) <= limit && size_bytes <= limit - charged(device);
}

uint64_t home_of(Kind kind, uint64_t key) {
  const uint64_t hash = (key ^ static_cast<uint64_t>(kind) << 61) * 0x9E3779B97F4A7C15ull;
  return (hash ^ hash >> 32) & (g_table.capacity - 1);
}

Entry* find(Kind kind, uint64_t key) {
  if (g_table.entries == nullptr) return nullptr;
  for (uint64_t i = home_of(kind, key);; i = (i + 1) & (g_table.capacity - 1)) {
    Entry& entry = g_table.entries[i];
    if (entry.kind == Kind::kFree) return nullptr;
    if (entry.kind == kind && entry.key == key) return &entry;
  }
}

void put(const Entry& entry) {
  uint64_t i = home_of(entry.kind, entry.key);
  while (g_table.entries[i].kind != Kind::kFree) i = (i + 1) & (g_table.capacity - 1);
  g_table.entries[i] = entry;
  ++g_table.used;
}

bool make_room() {
  if (g_table.entries != nullptr && g_table.used * 2 < g_table.capacity) return true;
  const Table before = g_table;
  const uint64_t capacity = before.entries == nullptr ? kFirstEntries : 2 * before.capacity;
  void* memory = map_private(capacity * sizeof(Entry));
  if (memory == nullptr) return false;
  g_table.entries = static_cast<Entry*>(memory);
  g_table.capacity = capacity;
  g_table.used = 0;
  for (uint64_t i = 0; i < before.capacity; ++i) {
    if (before.entries[i].kind != Kind::kFree) put(before.entries[i]);
  }
  if (before.entries != nullptr) unmap_private(before.entries, before.capacity * sizeof(Entry));
  return true;
}

// Erases an entry. Entries after it move up, so that each stays reachable from its home.
void erase(Entry* entry) {
  const uint64_t mask = g_table.capacity - 1;
  uint64_t gap = static_cast<uint64_t>(entry - g_table.entries);
  for (uint64_t i = (gap + 1) & mask; g_table.entries[i].kind != Kind::kFree; i = (i + 1) & mask) {
    const uint64_t home = home_of(g_table.entries[i].kind, g_table.entries[i].key);
    if (((i - home) & mask) < ((i - gap) & mask)) continue;  // it would land before its home
    g_table.entries[gap] = g_table.entries[i];
    gap = i;
  }
  g_table.entries[gap] = {};
  --g_table.used;
}

// Erases every entry that is_over(entry) chooses; then on_end(entry) is called for it, which must not erase entries.
// Entries pass the scan position only by wrapping around the table's end, and are then visited twice.
template <typename IsOver, typename OnEnd>
void sweep(const IsOver& is_over, const OnEnd& on_end) {
  for (uint64_t i = 0; i < g_table.capacity;) {
    const Entry entry = g_table.entries[i];
    if (entry.kind == Kind::kFree || !is_over(entry)) {
      ++i;
      continue;
    }
    erase(&g_table.entries[i]);  // another entry may have moved here: it is visited next
    on_end(entry);
  }
}

// Changes entries of kind `from` that is_one(entry) chooses to kind `to`.
template <typename IsOne>
void move_entries(Kind from, Kind to, const IsOne& is_one) {
  sweep([&](const Entry& entry) { return entry.kind == from && is_one(entry); },
        [&](const Entry& entry) {
          Entry moved = entry;
          moved.kind = to;
          put(moved);
        });
}

void charge(Kind kind, const DeviceMemory& memory) {
  if (!is_limited(memory.device)) return;
  const Locked guard;
  if (Entry* before = find(kind, memory.key)) {  // its end was not seen
    charged(before->device) -= before->size_bytes;
    erase(before);
  }
  if (make_room()) {
    put({memory.key, memory.size_bytes, memory.context, kind, memory.device, 1});
  } else {
    charged(memory.device) -= memory.size_bytes;  // its end would find nothing to give back
  }
}

}  // namespace

uint64_t device_limit(uint32_t device) {
  if (g_control == nullptr || device < wire::kFirstCudaDevice ||
      device >= wire::kFirstCudaDevice + wire::kDeviceLimits) {
    return UINT64_MAX;
  }
  const uint64_t limit = g_control->device_limits[device - wire::kFirstCudaDevice];
  return limit == 0 ? UINT64_MAX : limit;
}

bool has_device_limits() { return g_control != nullptr && g_control->has_device_limits != 0; }

bool reserve_device_memory(uint32_t device, uint64_t size_bytes) {
  if (!is_limited(device)) return true;
  const Locked guard;
  if (!fits(device, size_bytes)) return false;
  charged(device) += size_bytes;
  return true;
}

void return_device_memory(uint32_t device, uint64_t size_bytes) {
  if (!is_limited(device)) return;
  const Locked guard;
  charged(device) -= size_bytes;
}

bool correct_reservation(uint32_t device, uint64_t size_bytes, const DeviceMemory& actual) {
  if (device == actual.device && size_bytes == actual.size_bytes) return true;
  return_device_memory(device, size_bytes);
  return reserve_device_memory(actual.device, actual.size_bytes);
}

uint64_t charged_device_memory(uint32_t device) {
  if (!is_limited(device)) return 0;
  const Locked guard;
  return charged(device);
}

void charge_address(const DeviceMemory& memory) { charge(Kind::kAddress, memory); }
void charge_handle(const DeviceMemory& memory) { charge(Kind::kHandle, memory); }

bool take_address(uint64_t address, DeviceMemory* taken) {
  const Locked guard;
  Entry* entry = find(Kind::kAddress, address);
  if (entry == nullptr) entry = find(Kind::kEnding, address);  // its context may be ending
  if (entry == nullptr) return false;
  *taken = {entry->key, entry->device, entry->size_bytes, entry->context};
  erase(entry);
  return true;
}

void retain_handle(uint64_t handle) {
  const Locked guard;
  if (Entry* entry = find(Kind::kHandle, handle)) ++entry->references;
}

bool take_handle(uint64_t handle, DeviceMemory* taken) {
  const Locked guard;
  Entry* entry = find(Kind::kHandle, handle);
  if (entry == nullptr || --entry->references != 0) return false;
  *taken = {entry->key, entry->device, entry->size_bytes, 0};
  erase(entry);
  return true;
}

void charge_mapping(uint64_t address, uint64_t size_bytes, uint64_t handle) {
  const Locked guard;
  const bool has_room = make_room();  // before any look-up: it may move the table
  Entry* behind = find(Kind::kHandle, handle);
  if (behind == nullptr || find(Kind::kMapping, address) != nullptr) return;
  ++behind->references;
  if (has_room) put({address, size_bytes, handle, Kind::kMapping, behind->device, 0});
}

void begin_unmapping(uint64_t address, uint64_t size_bytes) {
  const Locked guard;
  move_entries(Kind::kMapping, Kind::kUnmapping, [&](const Entry& entry) { return entry.key - address < size_bytes; });
}

void end_unmapping(uint64_t address, uint64_t size_bytes, bool is_done) {
  const Locked guard;
  const auto is_within = [&](const Entry& entry) { return entry.key - address < size_bytes; };
  if (!is_done) return move_entries(Kind::kUnmapping, Kind::kMapping, is_within);
  sweep([&](const Entry& entry) { return entry.kind == Kind::kUnmapping && is_within(entry); },
        [](const Entry& entry) {
          if (Entry* behind = find(Kind::kHandle, entry.context)) --behind->references;
        });
  sweep([](const Entry& entry) { return entry.kind == Kind::kHandle && entry.references == 0; },
        [](const Entry& entry) { charged(entry.device) -= entry.size_bytes; });
}

void begin_context_end(uint64_t context) {
  const Locked guard;
  move_entries(Kind::kAddress, Kind::kEnding, [&](const Entry& entry) { return entry.context == context; });
}

void finish_context_end(uint64_t context, bool is_over) {
  const Locked guard;
  const auto is_its = [&](const Entry& entry) { return entry.context == context; };
  if (!is_over) return move_entries(Kind::kEnding, Kind::kAddress, is_its);
  sweep([&](const Entry& entry) { return entry.kind == Kind::kEnding && is_its(entry); },
        [](const Entry& entry) { charged(entry.device) -= entry.size_bytes; });
}

}  // namespace heapprof::agent
