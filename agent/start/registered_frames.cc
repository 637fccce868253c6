// agent/start/registered_frames.cc: __register_frame and __deregister_frame, by which a JIT compiler tells libgcc how
// its code is unwound: recorded stacks go through that code, too.
//
// The section is forwarded first. libgcc comes with C++ and may be loaded at any time, and unloaded: then the agent's
// is a definition that the program would not have found, or is in the place of one of libgcc's that would keep it
// loaded. A libgcc ends the process if a section is taken back that it never had, so it is told only of the end of
// sections that it has.
#include "agent/start/registered_frames.h"

#include "agent/hooks/hook.h"
#include "agent/hooks/late_real.h"
#include "agent/unwind/registered_frames.h"

#include <atomic>

namespace heapprof::agent {

namespace {

constinit LateReal g_reals[] = {{"__register_frame"}, {"__deregister_frame"}};

// Which libgcc has a section: the number of the one that was loaded. 0: none was. If there is no room any more, a
// section counts as one of the libgcc that is loaded.
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

// The libgcc that has it.
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
  find_real_now(&g_reals[1]);  // whose end ends what the other one was told
  remember(section, forward(&g_reals[0], section) ? g_library.load() : 0);
  note_registered_frames(section);
}

HOOK void __deregister_frame(void* section) {
  note_deregistered_frames(section);
  if (forget(section) == g_library.load()) forward(&g_reals[1], section);
}
