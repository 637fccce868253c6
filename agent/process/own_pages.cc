// agent/process/own_pages.cc: see own_pages.h.
#include "agent/process/own_pages.h"

#include "agent/libc/raw.h"
#include "agent/process/arena.h"
#include "shared/wire.h"

#include <atomic>

namespace heapprof::agent {

namespace {

constexpr uint32_t kMost = 2 * wire::kMaxRings;  // for this process and its parents
HEAPPROF_LARGE OwnPages g_own_pages[kMost];
std::atomic<uint32_t> g_own_pages_count{0};

}  // namespace

// pre: the lock is held, so there is one writer.
void note_own_pages(const void* pages, size_t size_bytes) {
  const uint32_t index = g_own_pages_count.load(std::memory_order_relaxed);
  if (index >= kMost) return;
  g_own_pages[index] = {reinterpret_cast<uint64_t>(pages), size_bytes};
  g_own_pages_count.store(index + 1, std::memory_order_release);  // pairs with own_pages_count()
  if (g_control == nullptr) return;
  g_control->own_pages_avma = reinterpret_cast<uint64_t>(g_own_pages);
  g_control->own_pages_count = index + 1;
}

const OwnPages* own_pages() { return g_own_pages; }
uint32_t own_pages_count() { return g_own_pages_count.load(std::memory_order_acquire); }

}  // namespace heapprof::agent
