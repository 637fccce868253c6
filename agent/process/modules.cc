// agent/process/modules.cc: the list of objects seen so far, which is read without a lock and changed under one.
//
// The list of objects seen so far has two uses. It answers most look-ups with one scan of 16-byte ranges. And it
// remembers what was announced to the collector, including objects that are gone and may come back. Readers take no
// lock. If a sequence number tells them that the list changed under them, they do what is done for a new object, which
// takes the lock. In a forked child the kernel wipes the lock (ForkPage), and reset_modules empties the list, which a
// writer of the parent may have left half changed.
#include "agent/process/modules.h"

#include "agent/libc/raw.h"
#include "agent/process/arena.h"
#include "agent/process/generation.h"
#include "agent/process/loaded_object.h"
#include "agent/process/lock.h"
#include "agent/process/state.h"

#include <string.h>

#include <atomic>

namespace heapprof::agent {

NoteObject g_note_object_for_python = nullptr;
NoteObject g_note_object_for_torch = nullptr;

namespace {

constexpr uint32_t kMaxListed = 4096;
constexpr uint32_t kMostPauses = 20'000;  // about 1 ms
constexpr uint32_t kMostRounds = 200;     // most of them sleep for 50 µs

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
  std::atomic<uint64_t> identity;  // hash of bias, path and build id
  std::atomic<uint32_t> gone_at;   // the generation that began when it was unloaded; 0: it is loaded
};

// Odd while the list is being changed; begin_change and end_change pair with is_unchanged.
std::atomic<uint32_t> g_change;
std::atomic<uint32_t> g_count;
uint32_t g_next_victim;   // which entry is replaced in a full list
uint32_t g_forgotten_at;  // the generation at which an entry was last replaced
HEAPPROF_LARGE Range g_ranges[kMaxListed];
HEAPPROF_LARGE Listed g_listed[kMaxListed];

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

bool find_listed(uint64_t pc_avma, ModuleInfo* info) {
  const uint32_t change = g_change.load(std::memory_order_acquire);
  const uint32_t count = g_count.load(kRelaxed);
  for (uint32_t i = 0; i < count; ++i) {
    const uint64_t start_avma = g_ranges[i].start_avma.load(kRelaxed);
    const uint64_t end_avma = g_ranges[i].end_avma.load(kRelaxed);
    if (pc_avma < start_avma || pc_avma >= end_avma) continue;
    const Listed& listed = g_listed[i];
    if (listed.gone_at.load(kRelaxed) != 0) continue;
    *info = {start_avma,
             end_avma,
             listed.entry_avma.load(kRelaxed),
             listed.table_start_avma.load(kRelaxed),
             listed.table_end_avma.load(kRelaxed),
             reinterpret_cast<const uint8_t*>(listed.eh_frame_hdr_avma.load(kRelaxed))};
    return is_unchanged(change);
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

void write_entry(uint32_t index, const LoadedObject& object, uint64_t identity) {
  const ModuleInfo& info = object.info;
  g_ranges[index].start_avma.store(info.start_avma, kRelaxed);
  g_ranges[index].end_avma.store(info.end_avma, kRelaxed);
  Listed& listed = g_listed[index];
  listed.entry_avma.store(info.entry_avma, kRelaxed);
  listed.table_start_avma.store(info.table_start_avma, kRelaxed);
  listed.table_end_avma.store(info.table_end_avma, kRelaxed);
  listed.eh_frame_hdr_avma.store(reinterpret_cast<uint64_t>(info.eh_frame_hdr), kRelaxed);
  listed.identity.store(identity, kRelaxed);
  listed.gone_at.store(0, kRelaxed);
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
  target.gone_at.store(source.gone_at.load(kRelaxed), kRelaxed);
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

Ending range_of(uint32_t index) {
  return {g_ranges[index].start_avma.load(kRelaxed), g_ranges[index].end_avma.load(kRelaxed)};
}

bool is_later(uint32_t generation, uint32_t other) { return static_cast<int32_t>(generation - other) > 0; }

// The generation from which on an address of a new object means that object. It began when the object that was there
// before ended. That may be earlier than now: a thread at an earlier generation may have called the new object, too,
// without having reported it yet.
uint32_t generation_of_range(const ModuleInfo& info, uint32_t count, uint32_t now) {
  uint32_t since = is_later(g_forgotten_at, g_session) ? g_forgotten_at : g_session;
  for (uint32_t i = 0; i < count; ++i) {
    if (!overlaps(i, info)) continue;
    const uint32_t gone_at = g_listed[i].gone_at.load(kRelaxed);
    if (gone_at == 0) return now;
    if (is_later(gone_at, since)) since = gone_at;
  }
  return since;
}

// Reports to the subscribers that the object is loaded, perhaps again. pre: as list_object's
void note_object(const LoadedObject& object) {
  bool is_new = false;
  for (const NoteObject note : {g_note_object_for_python, g_note_object_for_torch})
    is_new = (note != nullptr && note(object.path)) || is_new;
  if (!is_new) return;
  end_what_is_known({0, 0});
  g_control->generation.store(current_generation(), kRelaxed);
  g_fork_page.generation.store(current_generation(), kRelaxed);
}

// pre: the module lock is held, signals are blocked.
void list_object(const LoadedObject& object, uint32_t generation) {
  const uint64_t identity = identity_of(object);
  uint32_t count = g_count.load(kRelaxed);
  for (uint32_t i = 0; i < count; ++i) {
    if (!is_same(i, object, identity)) continue;
    g_listed[i].gone_at.store(0, kRelaxed);
    return note_object(object);
  }
  wire::ModuleEntry entry{};
  entry.generation = generation_of_range(object.info, count, generation);
  entry.start_avma = object.info.start_avma;
  entry.end_avma = object.info.end_avma;
  entry.load_bias = object.bias;
  announce_module(entry, object.path, object.build_id, object.build_id_bytes);  // counts if its table is full
  begin_change();
  for (uint32_t i = 0; i < count;) {  // a listed object that overlaps this one is gone
    const Ending range = range_of(i);
    const bool is_covered = range.start_avma >= object.info.start_avma && range.end_avma <= object.info.end_avma;
    if (overlaps(i, object.info) && (is_covered || g_listed[i].gone_at.load(kRelaxed) == 0)) {
      move_entry(--count, i);
      continue;
    }
    // If an object is covered only in part, the generation of its unload must stay known. If the object comes back, it
    // is announced again.
    if (overlaps(i, object.info)) g_listed[i].identity.store(0, kRelaxed);
    ++i;
  }
  if (count == kMaxListed) g_forgotten_at = current_generation();
  const uint32_t index = count < kMaxListed ? count++ : g_next_victim++ % kMaxListed;
  write_entry(index, object, identity);
  g_count.store(count, kRelaxed);
  end_change();
  note_object(object);
}

// Takes the lock, or gives up after some milliseconds. In that time, a holder that was preempted runs again, unless
// this thread may not even sleep.
bool lock_list_for_a_while() {
  const uint32_t most_tries = is_filtered() ? kMostPauses : kMostRounds;
  for (uint32_t tries = 0; !try_lock(g_fork_page.module_lock); ++tries) {
    if (tries == most_tries) return false;
    let_others_run(tries);
  }
  return true;
}

// Runs f with the list locked. A filtered thread cannot block its signals: its handler may interrupt it with the lock
// taken, and may jump out. So no thread may wait for ever while there are filters. False: f did not run.
template <typename F>
bool with_list_locked(F&& f) {
  if (is_filtered()) {
    if (!lock_list_for_a_while()) return false;
    f();
    unlock(g_fork_page.module_lock);
    return true;
  }
  const SignalsBlocked blocked;
  if (!has_filters()) {
    lock(g_fork_page.module_lock);
  } else if (!lock_list_for_a_while()) {
    return false;
  }
  f();
  unlock(g_fork_page.module_lock);
  return true;
}

bool is_gone(uint32_t index) {
  return g_listed[index].gone_at.load(kRelaxed) == 0 &&
         !is_surely_loaded(reinterpret_cast<const void*>(g_ranges[index].start_avma.load(kRelaxed)));
}

}  // namespace

bool find_module(uint64_t pc_avma, uint32_t generation, ModuleInfo* info) {
  if (find_listed(pc_avma, info)) return true;
  LoadedObject object;
  if (!find_object(pc_avma, &object)) return false;
  *info = object.info;
  return with_list_locked([&] { list_object(object, generation); });
}

void end_unloaded_modules() {
  const auto end_gone = [](bool can_tell) {
    uint32_t generation = 0;
    for (uint32_t i = 0; i < g_count.load(kRelaxed); ++i) {
      if (g_listed[i].gone_at.load(kRelaxed) != 0 || (can_tell && !is_gone(i))) continue;
      if (can_tell || generation == 0) generation = end_what_is_known(can_tell ? range_of(i) : kEverything);
      g_listed[i].gone_at.store(generation, kRelaxed);
    }
    if (generation == 0) return;
    g_control->generation.store(current_generation(), kRelaxed);
    g_fork_page.generation.store(current_generation(),
                                 kRelaxed);  // under the lock, so that no earlier generation overwrites a later one
  };
  // Before glibc 2.35 any object may be gone; likewise if a handler jumped out and left the lock taken. Then everything
  // is invalidated.
  if (!with_list_locked([&] { end_gone(can_tell_loaded()); })) end_gone(false);
}

void end_known_code(const Ending& range) {
  if (g_fork_page.state != AgentState::kOn) return;  // nothing is known
  with_list_locked([&range] {
    end_what_is_known(range);
    g_control->generation.store(current_generation(), kRelaxed);
    g_fork_page.generation.store(current_generation(), kRelaxed);
  });
}

void reset_modules() {
  g_forgotten_at = 0;
  g_count.store(0, kRelaxed);
  g_change.store(0, kRelaxed);  // a writer of the parent may have left it odd
}

}  // namespace heapprof::agent
