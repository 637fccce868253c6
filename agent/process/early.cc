// agent/process/early.cc: finds the loader by the auxiliary vector that the kernel put on the stack, after the
// environment.
//
// Every other way needs a relocation, or may be missing. libc's getauxval and the loader's variables need the agent's
// GOT, a library cannot find its own entry in the loader's list, and /proc need not be mounted. Once the agent is
// relocated, the search for the vector begins at __libc_stack_end, so that any thread can do it. The ABI fixes the
// vector's place: arguments, a zero, the environment, a zero, then pairs up to AT_NULL.
#include "agent/process/early.h"

#include "agent/libc/variables.h"
#include "agent/process/link_map.h"

#include <elf.h>
#include <string.h>

#include <atomic>

extern "C" const void* const volatile heapprof_own_address =
    const_cast<const void*>(static_cast<const volatile void*>(&heapprof_own_address));

// For entries that are called before the agent is relocated (arch/arch.h).
extern "C" __attribute__((visibility("hidden"))) void* heapprof_find_early(const char* name) {
  return heapprof::agent::find_early(name);
}

namespace heapprof::agent {

namespace {

struct Vector {
  uint64_t loader_avma = 0;   // AT_BASE: 0 if the loader was started as a command
  uint64_t headers_avma = 0;  // AT_PHDR: the program's headers
  uint64_t header_count = 0;
  uint64_t processor_flags = 0;  // AT_HWCAP2
};

bool load(uint64_t* to, const uint64_t* from) {
  if (!can_read_object(from, sizeof *from)) return false;
  *to = *from;
  return true;
}

// True if the pairs from `at` on are the vector.
bool read_vector(const uint64_t* at, Vector* vector) {
  constexpr uint32_t kMostPairs = 64;
  constexpr uint64_t kMostType = 64;
  bool has_entry = false, has_header_bytes = false;
  *vector = {};
  for (uint32_t i = 0; i < kMostPairs; ++i, at += 2) {
    uint64_t type, value;
    if (!load(&type, at) || !load(&value, at + 1) || type > kMostType) return false;
    switch (type) {
      case AT_NULL: return has_entry && has_header_bytes && vector->headers_avma != 0;
      case AT_BASE: vector->loader_avma = value; break;
      case AT_PHDR: vector->headers_avma = value; break;
      case AT_PHNUM: vector->header_count = value; break;
      case AT_PHENT: has_header_bytes = value == sizeof(ElfW(Phdr)); break;
      case AT_HWCAP2: vector->processor_flags = value; break;
      case AT_ENTRY: has_entry = value != 0; break;
      default: break;
    }
  }
  return false;
}

bool find_vector(const void* from, Vector* vector) {
  constexpr uint64_t kMostWords = 4 << 20;  // of frames, arguments and environment: 32 MiB, more than the kernel allows
  const auto* at = static_cast<const uint64_t*>(from);
  for (uint64_t i = 0; i < kMostWords; ++i, ++at) {
    uint64_t word;
    if (!load(&word, at)) return false;
    if (word == 0 && read_vector(at + 1, vector)) return true;
  }
  return false;
}

// Finds the loader's state through the program's headers: the loader describes itself to debuggers in the program's
// dynamic section.
const r_debug* state_of_program(const Vector& vector) {
  const ProgramHeaders headers{reinterpret_cast<const ElfW(Phdr)*>(vector.headers_avma),
                               static_cast<uint32_t>(vector.header_count)};
  uint64_t bias = 0;
  const ElfW(Dyn)* dynamic = nullptr;
  if (!can_read_object(headers.first, headers.count * sizeof *headers.first)) return nullptr;
  for (uint32_t i = 0; i < headers.count; ++i) {
    if (headers.first[i].p_type == PT_PHDR) bias = vector.headers_avma - headers.first[i].p_vaddr;
  }
  for (uint32_t i = 0; i < headers.count; ++i) {
    if (headers.first[i].p_type == PT_DYNAMIC)
      dynamic = reinterpret_cast<const ElfW(Dyn)*>(bias + headers.first[i].p_vaddr);
  }
  for (; dynamic != nullptr && can_read_object(dynamic, sizeof *dynamic) && dynamic->d_tag != DT_NULL; ++dynamic) {
    if (dynamic->d_tag == DT_DEBUG) return reinterpret_cast<const r_debug*>(dynamic->d_un.d_ptr);
  }
  return nullptr;
}

const r_debug* state_of_loader(uint64_t loader_avma) {
  link_map loader{};
  loader.l_addr = loader_avma;
  const ProgramHeaders headers = headers_at(loader_avma);
  for (uint32_t i = 0; i < headers.count; ++i) {
    if (headers.first[i].p_type == PT_DYNAMIC)
      loader.l_ld = reinterpret_cast<ElfW(Dyn)*>(loader_avma + headers.first[i].p_vaddr);
  }
  SoughtSymbol state{"_r_debug"};
  if (loader.l_ld != nullptr) find_symbols_in_object(&loader, &state, 1);
  return state.symbol == nullptr ? nullptr : reinterpret_cast<const r_debug*>(loader_avma + state.symbol->st_value);
}

struct Found {
  std::atomic<uint64_t> headers_avma;
  std::atomic<uint64_t> header_count;
  std::atomic<uint64_t> processor_flags;
  std::atomic<const r_debug*> state;  // the loader's; nullptr: nothing was found yet
};
Found g_found;

void find() {
  Vector vector;
  if (!(is_relocated() && find_vector(__libc_stack_end, &vector)) && !find_vector(__builtin_frame_address(0), &vector))
    return;
  const r_debug* state = vector.loader_avma != 0 ? state_of_loader(vector.loader_avma) : nullptr;
  if (state == nullptr) state = state_of_program(vector);
  if (!can_read_object(state, sizeof *state)) return;
  g_found.headers_avma.store(vector.headers_avma, std::memory_order_relaxed);
  g_found.header_count.store(vector.header_count, std::memory_order_relaxed);
  g_found.processor_flags.store(vector.processor_flags, std::memory_order_relaxed);
  g_found.state.store(state, std::memory_order_release);
}

long refuse() { return -1; }

}  // namespace

const r_debug* loader_state() {
  if (g_found.state.load(std::memory_order_acquire) == nullptr) find();
  const r_debug* const state = g_found.state.load(std::memory_order_acquire);
  return state == nullptr && is_relocated() ? &_r_debug : state;
}

ProgramHeaders headers_of_program() {
  if (g_found.state.load(std::memory_order_acquire) == nullptr) find();
  return {reinterpret_cast<const ElfW(Phdr)*>(g_found.headers_avma.load(std::memory_order_relaxed)),
          static_cast<uint32_t>(g_found.header_count.load(std::memory_order_relaxed))};
}

uint64_t processor_flags() {
  if (g_found.state.load(std::memory_order_acquire) == nullptr) find();
  return g_found.processor_flags.load(std::memory_order_relaxed);
}

void* find_early(const char* name) {
  void* found = find_behind_agent(name).address;
  return found != nullptr ? found : reinterpret_cast<void*>(refuse);
}

}  // namespace heapprof::agent
