// agent/cuda/kernels.cc: a table of handles with open addressing. A slot belongs to its handle for ever; what is known
// of the handle is one word, so that it is read and written without a lock.
#include "agent/cuda/kernels.h"

#include "agent/libc/raw.h"
#include "agent/process/arena.h"
#include "agent/process/names.h"

namespace heapprof::agent {

namespace {

constexpr uint32_t kLooks = 64;  // slots in which a handle is searched

// known: session:32 | KernelHandle:3 | number:29, of the kernel's name (0: not queried yet), or of a graph's nodes + 1
struct Slot {
  std::atomic<uint64_t> handle;  // 0: free
  std::atomic<uint64_t> known;
};
HEAPPROF_LARGE Slot g_slots[kMostHandles];
std::atomic<uint32_t> g_name_generation{1};  // numbers of names belong to this session

constexpr uint64_t kNumberMask = (1u << 29) - 1;
KernelHandle kind_of(uint64_t known) { return static_cast<KernelHandle>(known >> 29 & 7); }
uint64_t number_of(uint64_t known) {
  return known >> 32 == g_name_generation.load(std::memory_order_relaxed) ? known & kNumberMask : 0;
}
uint64_t pack(KernelHandle kind, uint64_t number) {
  return static_cast<uint64_t>(g_name_generation.load(std::memory_order_relaxed)) << 32 |
         static_cast<uint64_t>(kind) << 29 | (number & kNumberMask);
}

// nullptr: no room.
Slot* slot_of(const void* handle) {
  const uint64_t wanted = number(handle);
  uint64_t at = wanted * 0x9E3779B97F4A7C15ull >> 32;
  for (uint32_t look = 0; look < kLooks; ++look, ++at) {
    Slot& slot = g_slots[at % kMostHandles];
    uint64_t found = slot.handle.load(std::memory_order_relaxed);
    if (found == wanted) return &slot;
    if (found == 0 &&
        (slot.handle.compare_exchange_strong(found, wanted, std::memory_order_relaxed) || found == wanted))
      return &slot;
  }
  return nullptr;
}

}  // namespace

void note_kernel_handle(KernelHandle kind, const void* handle, const char* name) {
  Slot* const slot = handle == nullptr || name == nullptr ? nullptr : slot_of(handle);
  if (slot == nullptr) return;
  const uint64_t known = slot->known.load(std::memory_order_relaxed);
  if (kind_of(known) == kind && is_kernel_named(static_cast<uint32_t>(number_of(known)), name)) return;
  // A name takes room only once its kernel is launched, unless the driver cannot be queried for it then.
  const uint32_t fresh = ask_kernel_name(kind, handle) != nullptr ? 0 : number_of_kernel_name(name);
  slot->known.store(pack(kind, fresh), std::memory_order_relaxed);
}

void note_listed_kernel(KernelHandle kind, const void* handle) {
  Slot* const slot = handle == nullptr ? nullptr : slot_of(handle);
  if (slot != nullptr) slot->known.store(pack(kind, 0), std::memory_order_relaxed);
}

void note_function_of_kernel(const void* function, const void* kernel) {
  Slot* const slot = function == nullptr ? nullptr : slot_of(function);
  if (slot != nullptr)
    slot->known.store(pack(KernelHandle::kFunction, number_of_kernel(kernel)), std::memory_order_relaxed);
}

void note_graph(const void* executable, uint64_t kernel_nodes_plus_one) {
  if (Slot* const slot = executable == nullptr ? nullptr : slot_of(executable))
    slot->known.store(pack(KernelHandle::kUnknown, wire::at_most(kernel_nodes_plus_one, 29)),
                      std::memory_order_relaxed);
}

uint32_t number_of_kernel(const void* handle) {
  if (handle == nullptr) return wire::kUnnamedKernel;
  Slot* const slot = slot_of(handle);
  if (slot == nullptr) {
    g_control->kernel_names_lost.fetch_add(1, std::memory_order_relaxed);
    return wire::kOtherKernel;
  }
  const uint64_t known = slot->known.load(std::memory_order_relaxed);
  if (const uint64_t number = number_of(known); HEAPPROF_LIKELY(number != 0)) return static_cast<uint32_t>(number);
  const KernelHandle kind = kind_of(known);
  const char* const name = ask_kernel_name(kind, handle);
  const uint32_t fresh = name == nullptr ? wire::kUnnamedKernel : number_of_kernel_name(name);
  slot->known.store(pack(kind, fresh), std::memory_order_relaxed);
  return fresh;
}

uint64_t kernel_nodes_plus_one_of(const void* executable) {
  Slot* const slot = executable == nullptr ? nullptr : slot_of(executable);
  return slot == nullptr ? 0 : number_of(slot->known.load(std::memory_order_relaxed));
}

void forget_kernel_names() { g_name_generation.fetch_add(1, std::memory_order_relaxed); }

}  // namespace heapprof::agent
