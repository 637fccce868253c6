// agent/process/loader_lock.cc: finds a mutex of the loader that has no exported name.
#include "agent/process/loader_lock.h"

#include "agent/libc/raw.h"
#include "agent/process/link_map.h"
#include "agent/process/state.h"

#include <stdint.h>

namespace heapprof::agent {

namespace {

// The members of glibc's pthread_mutex_t, on 64 bits, that are needed here.
struct Mutex {
  uint32_t state;
  uint32_t times;  // how often its owner has taken it
  uint32_t owner;
  uint32_t owners;
  uint32_t kind;
};
constexpr uint32_t kRecursive = 1;  // PTHREAD_MUTEX_RECURSIVE_NP

Mutex* g_loader_lock = nullptr;  // nullptr: not known
int (*g_try_lock)(Mutex*) = nullptr;
int (*g_unlock)(Mutex*) = nullptr;

}  // namespace

void note_loader_lock() {
  SoughtSymbol state{.name = "_rtld_global", .version = "GLIBC_PRIVATE"};
  find_symbols_in_process(&state, 1);
  if (state.symbol == nullptr) return;
  const auto thread = static_cast<uint32_t>(sys_gettid());
  auto* words = reinterpret_cast<uint32_t*>(state.object->l_addr + state.symbol->st_value);
  const size_t count = state.symbol->st_size / sizeof(uint32_t);
  Mutex* found = nullptr;
  for (size_t i = 0; i + sizeof(Mutex) / sizeof(uint32_t) <= count; ++i) {
    auto* mutex = reinterpret_cast<Mutex*>(words + i);
    if (mutex->owner != thread || mutex->state == 0 || mutex->times == 0 || mutex->kind != kRecursive) continue;
    if (found != nullptr) return;  // it is unknown which of them is the lock
    found = mutex;
  }
  g_try_lock = reinterpret_cast<int (*)(Mutex*)>(find_in_glibc("pthread_mutex_trylock").address);
  g_unlock = reinterpret_cast<int (*)(Mutex*)>(find_in_glibc("pthread_mutex_unlock").address);
  if (g_try_lock != nullptr && g_unlock != nullptr) g_loader_lock = found;
}

bool lock_loader() {
  constexpr uint32_t kMostRounds = 100'000;  // of let_others_run, 50 µs each: 5 s
  if (g_loader_lock == nullptr) return false;
  for (uint32_t round = 0; round < kMostRounds; ++round) {
    if (g_try_lock(g_loader_lock) == 0) {
      forget_readable_pages();  // what could be read before may be gone
      return true;
    }
    let_others_run(round);
  }
  return false;
}

void unlock_loader() { g_unlock(g_loader_lock); }

}  // namespace heapprof::agent
