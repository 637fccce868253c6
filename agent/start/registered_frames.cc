// agent/start/registered_frames.cc: __register_frame and __deregister_frame, by which a JIT compiler tells libgcc how
// its code is unwound: recorded stacks go through that code, too.
//
// A section is forwarded to libgcc before the agent notes it. libgcc comes with C++, and may be loaded and unloaded at
// any time. Without libgcc, the program finds the agent's definition where it would find none. With libgcc, the program
// binds to the agent's definition, which does not keep libgcc loaded as its own would. A libgcc ends the process if a
// section that it never had is deregistered, so the agent forwards only the end of sections that it has.
#include "agent/start/registered_frames.h"

#include "agent/hooks/hook.h"
#include "agent/hooks/late_real.h"
#include "agent/unwind/registered_frames.h"

#include <atomic>

namespace heapprof::agent {

namespace {

constinit LateReal g_reals[] = {{"__register_frame"}, {"__deregister_frame"}};

// Which libgcc has each section: each libgcc that is loaded has a number; 0: none was loaded. If the table has no room
// for a section, it counts as one of the libgcc that is loaded now.
constexpr size_t kMostSections = 1024;
std::atomic<const void*> g_sections[kMostSections];
std::atomic<uint32_t> g_library_of[kMostSections];
std::atomic<uint32_t> g_library = 1;

constexpr uintptr_t kTaken = 1;  // a slot that is being written

void remember(const void* section, uint32_t library) {
  for (size_t i = 0; i < kMostSections; ++i) {  // one that was never taken back
    if (g_sections[i].load(std::memory_order_acquire) != section) continue;
    g_library_of[i] = library;
    return;
  }
  for (size_t i = 0; i < kMostSections; ++i) {
    const void* expected = nullptr;
    if (g_sections[i].load(std::memory_order_relaxed) != nullptr) continue;
    if (!g_sections[i].compare_exchange_strong(expected, reinterpret_cast<const void*>(kTaken))) continue;
    g_library_of[i] = library;
    g_sections[i].store(section, std::memory_order_release);
    return;
  }
}

// Takes a section out of the table. Returns the number of the libgcc that has it.
uint32_t forget(const void* section) {
  for (size_t i = 0; i < kMostSections; ++i) {
    const void* expected = section;
    if (g_sections[i].load(std::memory_order_acquire) != section) continue;
    const uint32_t library = g_library_of[i];
    if (g_sections[i].compare_exchange_strong(expected, nullptr)) return library;
  }
  return g_library.load();
}

}  // namespace

void forget_frame_functions() {
  const void* const before = __atomic_load_n(&g_reals[1].function, __ATOMIC_ACQUIRE);
  forget_unloaded(g_reals);
  if (!can_tell_loaded()) return;  // it may still be loaded
  if (before != nullptr && __atomic_load_n(&g_reals[1].function, __ATOMIC_ACQUIRE) == nullptr) ++g_library;
}

}  // namespace heapprof::agent

using namespace heapprof::agent;

HOOK void __register_frame(void* section) {
  find_real_now(&g_reals[1]);  // forget_frame_functions() notices by it that this libgcc is unloaded
  remember(section, forward(&g_reals[0], section) ? g_library.load() : 0);
  note_registered_frames(section);
}

HOOK void __deregister_frame(void* section) {
  note_deregistered_frames(section);
  if (forget(section) == g_library.load()) forward(&g_reals[1], section);
}
