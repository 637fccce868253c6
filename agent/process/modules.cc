// agent/process/modules.cc: the list of objects seen so far, which is read without a lock and changed behind one.
//
// The list of objects seen so far has two uses: it answers most look-ups with one scan of 16-byte ranges, and it
// remembers what the collector was told. Readers take no lock; a sequence number tells them that the list changed under
// them, and then they go the way of a new object, which takes the lock. In a forked child the kernel wipes the lock
// (ForkPage), and init_modules empties a list that a writer of the parent may have left half changed.
#include "agent/process/modules.h"

#include "agent/libc/raw.h"
#include "agent/process/arena.h"
#include "agent/process/loaded_object.h"
#include "agent/process/lock.h"
#include "agent/process/state.h"

#include <link.h>
#include <string.h>

#include <atomic>

namespace heapprof::agent {

namespace {

constexpr uint32_t kMaxListed = 4096;

struct Range {
  std::atomic<uint64_t> start_avma;
  std::atomic<uint64_t> end_avma;
};

// What find_module answers, in words that can be copied one by one while a writer is at work.
struct Listed {
  std::atomic<uint64_t> entry_avma;
  std::atomic<uint64_t> table_start_avma;
  std::atomic<uint64_t> table_end_avma;
  std::atomic<uint64_t> eh_frame_hdr_avma;
  std::atomic<uint64_t> identity;    // hash of bias, path and build id
  std::atomic<uint32_t> generation;  // in which the object was last seen to be there
};

// Odd while the list is being changed; begin_change and end_change pair with is_unchanged.
std::atomic<uint32_t> g_change;
std::atomic<uint32_t> g_count;
uint32_t g_next_victim;  // which entry gives way in a full list
Range g_ranges[kMaxListed];
Listed g_listed[kMaxListed];

constexpr auto kRelaxed = std::memory_order_relaxed;

void begin_change() {
  g_change.store(g_change.load(kRelaxed) + 1, kRelaxed);
  std::atomic_thread_fence(std::memory_order_release);  // the odd number is seen before any change
}
void end_change() { g_change.store(g_change.load(kRelaxed) + 1, std::memory_order_release); }

bool is_unchanged(uint32_t change) {
  std::atomic_thread_fence(std::memory_order_acquire);
  return (change & 1) == 0 && g_change.load(kRelaxed) == change;
}

// True if an object that was seen in generation `seen` is good for the caller's: then or later. Generations wrap
// around.
bool is_current(uint32_t seen, uint32_t generation) { return static_cast<int32_t>(seen - generation) >= 0; }

bool find_listed(uint64_t pc_avma, uint32_t generation, ModuleInfo* info) {
  const uint32_t change = g_change.load(std::memory_order_acquire);
  const uint32_t count = g_count.load(kRelaxed);
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t start_avma = g_ranges[i].start_avma.load(kRelaxed);
    const uint64_t end_avma = g_ranges[i].end_avma.load(kRelaxed);
    if (pc_avma < start_avma || pc_avma >= end_avma) continue;
    const Listed& listed = g_listed[i];
    *info = {start_avma,
             end_avma,
             listed.entry_avma.load(kRelaxed),
             listed.table_start_avma.load(kRelaxed),
             listed.table_end_avma.load(kRelaxed),
             reinterpret_cast<const uint8_t*>(listed.eh_frame_hdr_avma.load(kRelaxed))};
    return is_current(listed.generation.load(kRelaxed), generation) && is_unchanged(change);
  }
  return false;
}

uint64_t hash_bytes(uint64_t hash, const void* bytes, uint64_t count) {
  const auto* at = static_cast<const unsigned char*>(bytes);
  for (uint64_t i = 0; i < count; ++i) hash = (hash ^ at[i]) * 0x100000001b3;  // FNV-1a
  return hash;
}

uint64_t identity_of(const LoadedObject& object) {
  uint64_t hash = hash_bytes(0xcbf29ce484222325, &object.bias, sizeof object.bias);
  hash = hash_bytes(hash, object.path, strlen(object.path));
  return hash_bytes(hash, object.build_id, object.build_id_bytes);
}

void write_entry(uint32_t index, const LoadedObject& object, uint64_t identity, uint32_t generation) {
  const ModuleInfo& info = object.info;
  g_ranges[index].start_avma.store(info.start_avma, kRelaxed);
  g_ranges[index].end_avma.store(info.end_avma, kRelaxed);
  Listed& listed = g_listed[index];
  listed.entry_avma.store(info.entry_avma, kRelaxed);
  listed.table_start_avma.store(info.table_start_avma, kRelaxed);
  listed.table_end_avma.store(info.table_end_avma, kRelaxed);
  listed.eh_frame_hdr_avma.store(reinterpret_cast<uint64_t>(info.eh_frame_hdr), kRelaxed);
  listed.identity.store(identity, kRelaxed);
  listed.generation.store(generation, kRelaxed);
}

void move_entry(uint32_t from, uint32_t to) {
  g_ranges[to].start_avma.store(g_ranges[from].start_avma.load(kRelaxed), kRelaxed);
  g_ranges[to].end_avma.store(g_ranges[from].end_avma.load(kRelaxed), kRelaxed);
  Listed& target = g_listed[to];
  const Listed& source = g_listed[from];
  target.entry_avma.store(source.entry_avma.load(kRelaxed), kRelaxed);
  target.table_start_avma.store(source.table_start_avma.load(kRelaxed), kRelaxed);
  target.table_end_avma.store(source.table_end_avma.load(kRelaxed), kRelaxed);
  target.eh_frame_hdr_avma.store(source.eh_frame_hdr_avma.load(kRelaxed), kRelaxed);
  target.identity.store(source.identity.load(kRelaxed), kRelaxed);
  target.generation.store(source.generation.load(kRelaxed), kRelaxed);
}

bool overlaps(uint32_t index, const ModuleInfo& info) {
  return g_ranges[index].start_avma.load(kRelaxed) < info.end_avma &&
         info.start_avma < g_ranges[index].end_avma.load(kRelaxed);
}

bool is_same(uint32_t index, const LoadedObject& object, uint64_t identity) {
  return g_ranges[index].start_avma.load(kRelaxed) == object.info.start_avma &&
         g_ranges[index].end_avma.load(kRelaxed) == object.info.end_avma &&
         g_listed[index].identity.load(kRelaxed) == identity;
}

// pre: the module lock is held, signals are blocked.
void list_object(const LoadedObject& object, uint32_t generation) {
  const uint64_t identity = identity_of(object);
  uint32_t count = g_count.load(kRelaxed);
  for (uint32_t i = 0; i < count; ++i) {
    if (!is_same(i, object, identity)) continue;
    if (is_current(generation, g_listed[i].generation.load(kRelaxed)))
      g_listed[i].generation.store(generation, kRelaxed);
    return;
  }
  wire::ModuleEntry entry{};
  entry.generation = generation;
  entry.start_avma = object.info.start_avma;
  entry.end_avma = object.info.end_avma;
  entry.load_bias = object.bias;
  announce_module(entry, object.path, object.build_id, object.build_id_bytes);  // a full table is counted there
  begin_change();
  for (uint32_t i = 0; i < count;) {  // an object that overlaps this one is gone
    if (overlaps(i, object.info)) {
      move_entry(--count, i);
    } else {
      ++i;
    }
  }
  const uint32_t index = count < kMaxListed ? count++ : g_next_victim++ % kMaxListed;
  write_entry(index, object, identity, generation);
  g_count.store(count, kRelaxed);
  end_change();
}

}  // namespace

bool find_module(uint64_t pc_avma, uint32_t generation, ModuleInfo* info) {
  if (find_listed(pc_avma, generation, info)) return true;
  LoadedObject object;
  if (!find_object(pc_avma, &object)) return false;
  if (is_filtered()) {  // signals cannot be blocked: a handler may have interrupted whoever holds the lock
    if (!try_lock(g_fork_page.module_lock)) return false;
    list_object(object, generation);
    unlock(g_fork_page.module_lock);
  } else {
    const SignalsBlocked blocked;
    lock(g_fork_page.module_lock);
    list_object(object, generation);
    unlock(g_fork_page.module_lock);
  }
  *info = object.info;
  return true;
}

void announce_loaded_objects(uint32_t generation) {
  for (const link_map* object = _r_debug.r_map; object != nullptr; object = object->l_next) {
    ModuleInfo info;
    find_module(reinterpret_cast<uint64_t>(object->l_ld), generation, &info);
  }
}

void init_modules() {
  init_find_object();
  reset_modules_after_fork();
}

void reset_modules_after_fork() {
  g_count.store(0, kRelaxed);
  g_change.store(0, kRelaxed);  // a writer of the parent may have left it odd
}

}  // namespace heapprof::agent
