// agent/hooks/mapping.cc: records each range of pages that the program maps, unmaps, moves or protects.
//
// As with blocks, the beginning of a range is recorded after the call, and its end before the call: once the kernel has
// unmapped a range, another thread may get it. If a call fails, another record takes the end back. The agent keeps no
// table of the mapped pages, because that would need a lock in mmap. The collector keeps one, because it sees the
// events of all threads in their order.
//
// Runtimes that bring their own heap (SBCL) map memory by syscall(SYS_mmap, …). If the executable makes such a call,
// jumped.cc calls this file instead. Two kinds of calls pass through, because what they map may be counted already:
// those of libraries, some of which patch libc's functions in place (Open MPI's, libfabric's), and those of an
// executable whose own allocator is hooked (tcmalloc brings an mmap that calls syscall).
#include "agent/hooks/mapping.h"

#include "agent/hooks/hook.h"
#include "agent/hooks/inner.h"
#include "agent/hooks/real.h"
#include "agent/process/arena.h"
#include "agent/process/known_pages.h"
#include "agent/process/loaded_object.h"
#include "agent/process/own_variables.h"
#include "shared/wire.h"

#include <stdarg.h>

// X(result, name, parameters)
#define HEAPPROF_MAPPING_FUNCTIONS(X)                     \
  X(void*, mmap, (void*, size_t, int, int, int, off_t))   \
  X(void*, mmap64, (void*, size_t, int, int, int, off_t)) \
  X(int, munmap, (void*, size_t))                         \
  X(void*, mremap, (void*, size_t, size_t, int, void*))   \
  X(int, mprotect, (void*, size_t, int))                  \
  X(int, pkey_mprotect, (void*, size_t, int, int))        \
  X(int, brk, (void*))                                    \
  X(void*, sbrk, (intptr_t))                              \
  X(long, syscall, (long, ...))

namespace heapprof::agent {

namespace {

using wire::DeviceOperation;

struct RealMapping {
#define X(result, name, params) result(*name) params;
  HEAPPROF_MAPPING_FUNCTIONS(X)
#undef X
};
RealMapping g_real_mapping;  // all nullptr before the start

constexpr uint64_t kUsualEnd = uint64_t{1} << kUsualAddressBits;

// The code of the object that serves malloc, unless that is libc. Calls from there are the allocator's own.
uint64_t g_allocator_start_avma = 0;
uint64_t g_allocator_end_avma = 0;
// The executable.
uint64_t g_program_start_avma = 0;
uint64_t g_program_bytes = 0;

// Before the start, looks the function up at each call, and does not keep it, because it need not stay loaded.
template <typename Function>
Function* real_of(Function* known, const char* name) {
  if (HEAPPROF_LIKELY(known != nullptr)) return known;
  return reinterpret_cast<Function*>(find_behind_agent(name).address);
}
#define REAL(name) real_of(g_real_mapping.name, #name)

// Calls the kernel if libc lacks the function, and sets errno as libc would.
long by_kernel(long number, long a, long b, long c = 0, long d = 0, long e = 0, long f = 0) {
  return result_as_libc(raw_syscall(number, a, b, c, d, e, f));
}
long word(const void* pointer) { return reinterpret_cast<long>(pointer); }

constexpr uint64_t round_up(uint64_t bytes, uint64_t page_bytes = wire::kPageBytes) {
  return (bytes + page_bytes - 1) & ~(page_bytes - 1);
}

// mmap gives whole pages. MAP_HUGETLB makes them larger: as its flags say, or 2 MiB by default.
uint64_t page_bytes_of(int flags) {
  constexpr int kShift = 26;
  constexpr int kMask = 0x3f;
  constexpr int kDefault = 21;
  if ((flags & MAP_HUGETLB) == 0) return wire::kPageBytes;
  const int chosen = static_cast<int>(static_cast<uint32_t>(flags) >> kShift) & kMask;
  return 1ull << (chosen == 0 ? kDefault : chosen);
}

uint32_t device_of(int protection, bool is_file) {
  if ((protection & (PROT_READ | PROT_WRITE | PROT_EXEC)) == 0) return wire::kReservedDevice;
  return is_file ? wire::kMappedFileDevice : wire::kMappedDevice;
}

bool is_recorded(HookFrame hook_frame) {
  if (HEAPPROF_UNLIKELY(g_real_mapping.mmap == nullptr)) return false;
  if (HEAPPROF_UNLIKELY(!has_own_variables())) {  // the thread has no ring, so the event is lost
    if (g_fork_page.state == AgentState::kOn && g_control != nullptr)
      g_control->events_lost.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  begin_own_variables();
  // Whatever is mapped while the agent tries the allocator, or starts, belongs to the allocator.
  return (t_flags & kThreadInside) == 0 &&
         returns_to(hook_frame) - g_allocator_start_avma >= g_allocator_end_avma - g_allocator_start_avma &&
         !is_inner_code(returns_to(hook_frame));
}
// True if the range can be valid; the kernel refuses others.
bool is_pages(const void* address, size_t size_bytes) {
  const auto start = reinterpret_cast<uint64_t>(address);
  return start % wire::kPageBytes == 0 && start != 0 && size_bytes != 0 && wire::is_range(start, size_bytes);
}
uint64_t number(const void* address) { return reinterpret_cast<uint64_t>(address); }

// ---- Records ----

void record_begin(const void* address, uint64_t size_bytes, uint32_t device, uint64_t flags, HookFrame hook_frame) {
  if (address == nullptr) return;  // a program may map page 0, but a record cannot hold that address
  record_device({DeviceOperation::kMapRange, device, flags, number(address), size_bytes}, hook_frame);
}
void record_end(DeviceOperation operation, const void* address, uint64_t size_bytes, HookFrame hook_frame) {
  note_unmapping();
  record_device({operation, 0, size_bytes, number(address), 0}, hook_frame);
}

// The program's break went from one address to the other: the program has the pages that begin below it. The end of
// pages is recorded after the call, because libc reports success even if the kernel refused. No other mapping is placed
// there in that moment.
void record_break(uint64_t from, uint64_t to, HookFrame hook_frame) {
  const uint64_t before = round_up(from);
  const uint64_t after = round_up(to);
  if (after > before) {
    record_begin(reinterpret_cast<void*>(before), after - before, wire::kMappedDevice, 0, hook_frame);
  } else if (after < before) {
    record_end(DeviceOperation::kUnmapRange, reinterpret_cast<void*>(after), before - after, hook_frame);
  }
}

// Inlined: the hook's frame must still be there.
[[gnu::always_inline]] inline int change_protection(void* address, size_t size_bytes, int protection, int result,
                                                    HookFrame hook_frame) {
  if (result != 0 || !is_recorded(hook_frame) || !is_pages(address, size_bytes)) return result;
  // Such pages are room for code that a program generates; most of it is never touched. V8 makes 510 MiB so in one
  // call.
  constexpr int kCode = PROT_WRITE | PROT_EXEC;
  if ((protection & kCode) == kCode) return result;
  record_device(
      {DeviceOperation::kProtectRange, device_of(protection, false), 0, number(address), round_up(size_bytes)},
      hook_frame);
  return result;
}

}  // namespace

void settle_mapping_hooks() {
  LoadedObject allocator;
  const auto malloc_avma = reinterpret_cast<uint64_t>(g_real.malloc);
  const Definition libc = find_in_glibc("gnu_get_libc_version");
  LoadedObject own_libc;
  if (find_object(malloc_avma, &allocator) &&
      (!find_object(number(libc.address), &own_libc) || own_libc.bias != allocator.bias)) {
    g_allocator_start_avma = allocator.info.start_avma;
    g_allocator_end_avma = allocator.info.end_avma;
  }
  LoadedObject program;
  const ProgramHeaders headers = headers_of_program();
  if (headers.first != nullptr && find_object(number(headers.first), &program)) {
    g_program_start_avma = program.info.start_avma;
    g_program_bytes = program.info.end_avma - program.info.start_avma;
  }
  RealMapping found;
#define X(result, name, params) find_real(&found.name, #name);
  HEAPPROF_MAPPING_FUNCTIONS(X)
#undef X
  g_real_mapping = found;
}

}  // namespace heapprof::agent

using namespace heapprof::agent;

namespace {

[[gnu::always_inline]] inline void* note_mapped(void* mapped, size_t size_bytes, int protection, int flags,
                                                HookFrame hook_frame) {
  if (mapped == MAP_FAILED || !is_recorded(hook_frame)) return mapped;
  const bool is_file = (flags & MAP_ANONYMOUS) == 0;
  record_begin(mapped, round_up(size_bytes, page_bytes_of(flags)), device_of(protection, is_file),
               is_file ? uint64_t{heapprof::wire::kMapIsFile} : 0, hook_frame);
  return mapped;
}

void* map_by_kernel(void* address, size_t size_bytes, int protection, int flags, int fd, off_t offset) {
  return reinterpret_cast<void*>(
      by_kernel(SYS_mmap, word(address), static_cast<long>(size_bytes), protection, flags, fd, offset));
}

template <typename Call>
[[gnu::always_inline]] inline int unmap(void* address, size_t size_bytes, Call call, HookFrame hook_frame) {
  const bool ends = is_recorded(hook_frame) && is_pages(address, size_bytes);
  // Most kernels refuse a range beyond kUsualEnd. If it were recorded before the call, other threads' pages would seem
  // unmapped for a moment.
  const bool is_usual = number(address) + size_bytes <= kUsualEnd;
  if (ends && is_usual) record_end(DeviceOperation::kUnmapRange, address, round_up(size_bytes), hook_frame);
  const int result = call();
  // the pages are gone now; another thread may have found them readable since the first note
  if (ends) note_unmapping();
  if (ends && is_usual && result != 0) record_end(DeviceOperation::kKeepRange, address, 0, hook_frame);
  if (ends && !is_usual && result == 0)
    record_end(DeviceOperation::kUnmapRange, address, round_up(size_bytes), hook_frame);
  return result;
}

// If the range has no bytes, or MREMAP_DONTUNMAP is set, the range stays: the call makes a second one.
template <typename Call>
[[gnu::always_inline]] inline void* move(void* old_address, size_t old_bytes, size_t new_bytes, int flags, Call call,
                                         HookFrame hook_frame) {
  constexpr int kDontUnmap = 4;  // MREMAP_DONTUNMAP, since Linux 5.7
  const bool is_range = is_recorded(hook_frame) && is_pages(old_address, old_bytes == 0 ? 1 : old_bytes);
  const bool is_copy = (flags & kDontUnmap) != 0;
  const uint64_t moved_bytes = is_copy ? 0 : round_up(old_bytes);
  if (is_range) record_end(DeviceOperation::kMoveRange, old_address, moved_bytes, hook_frame);
  void* mapped = call();
  if (!is_range) return mapped;
  note_unmapping();
  if (mapped == MAP_FAILED) {
    record_end(DeviceOperation::kKeepRange, old_address, 0, hook_frame);
  } else {
    record_begin(mapped, round_up(new_bytes), heapprof::wire::kMappedDevice,
                 heapprof::wire::kMapIsMoved | (is_copy ? uint64_t{heapprof::wire::kMapIsCopy} : 0), hook_frame);
  }
  return mapped;
}

}  // namespace

HOOK void* mmap(void* address, size_t size_bytes, int protection, int flags, int fd, off_t offset) __THROW {
  auto* real = REAL(mmap);
  void* mapped = (real != nullptr ? real : map_by_kernel)(address, size_bytes, protection, flags, fd, offset);
  return note_mapped(mapped, size_bytes, protection, flags, HEAPPROF_HOOK_FRAME());
}
HOOK void* mmap64(void* address, size_t size_bytes, int protection, int flags, int fd, off_t offset) __THROW {
  auto* real = REAL(mmap64);
  void* mapped = (real != nullptr ? real : map_by_kernel)(address, size_bytes, protection, flags, fd, offset);
  return note_mapped(mapped, size_bytes, protection, flags, HEAPPROF_HOOK_FRAME());
}

HOOK int munmap(void* address, size_t size_bytes) __THROW {
  auto* real = REAL(munmap);
  const auto call = [&] {
    return real != nullptr ? real(address, size_bytes)
                           : static_cast<int>(by_kernel(SYS_munmap, word(address), static_cast<long>(size_bytes)));
  };
  return unmap(address, size_bytes, call, HEAPPROF_HOOK_FRAME());
}

HOOK void* mremap(void* old_address, size_t old_bytes, size_t new_bytes, int flags, ...) __THROW {
  va_list arguments;
  va_start(arguments, flags);
  void* new_address = va_arg(arguments, void*);  // may be any value; the real function knows whether it has a meaning
  va_end(arguments);
  auto* real = REAL(mremap);
  const auto call = [&] {
    return real != nullptr
               ? real(old_address, old_bytes, new_bytes, flags, new_address)
               : reinterpret_cast<void*>(by_kernel(SYS_mremap, word(old_address), static_cast<long>(old_bytes),
                                                   static_cast<long>(new_bytes), flags, word(new_address)));
  };
  return move(old_address, old_bytes, new_bytes, flags, call, HEAPPROF_HOOK_FRAME());
}

HOOK int mprotect(void* address, size_t size_bytes, int protection) __THROW {
  auto* real = REAL(mprotect);
  const int result =
      real != nullptr
          ? real(address, size_bytes, protection)
          : static_cast<int>(by_kernel(SYS_mprotect, word(address), static_cast<long>(size_bytes), protection));
  return change_protection(address, size_bytes, protection, result, HEAPPROF_HOOK_FRAME());
}

HOOK int pkey_mprotect(void* address, size_t size_bytes, int protection, int key) __THROW {
  auto* real = REAL(pkey_mprotect);
  const int result = real != nullptr ? real(address, size_bytes, protection, key)
                                     : static_cast<int>(by_kernel(SYS_pkey_mprotect, word(address),
                                                                  static_cast<long>(size_bytes), protection, key));
  return change_protection(address, size_bytes, protection, result, HEAPPROF_HOOK_FRAME());
}

HOOK void* sbrk(intptr_t change) {
  auto* real = REAL(sbrk);
  if (real == nullptr) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  void* before = real(change);
  if (before == MAP_FAILED || change == 0 || !is_recorded(HEAPPROF_HOOK_FRAME())) return before;
  record_break(number(before), number(real(0)), HEAPPROF_HOOK_FRAME());
  return before;
}

HOOK int brk(void* end) {
  auto* real = REAL(brk);
  if (real == nullptr) {
    errno = ENOMEM;
    return -1;
  }
  auto* real_sbrk = REAL(sbrk);
  if (real_sbrk == nullptr || !is_recorded(HEAPPROF_HOOK_FRAME())) return real(end);
  const uint64_t before = number(real_sbrk(0));
  const int result = real(end);
  if (result == 0) record_break(before, number(real_sbrk(0)), HEAPPROF_HOOK_FRAME());
  return result;
}

bool heapprof::agent::is_mapping_of_program(size_t number, uint64_t caller_avma) {
  const bool is_mapping = number == SYS_mmap || number == SYS_munmap || number == SYS_mprotect || number == SYS_mremap;
  return is_mapping && caller_avma - g_program_start_avma < g_program_bytes && !has_inner_allocator();
}

long heapprof_mapping_syscall(long number, long first, long second, long third, long fourth, long fifth, long sixth) {
  auto* real = REAL(syscall);
  const auto call = [&] {
    return real != nullptr ? real(number, first, second, third, fourth, fifth, sixth)
                           : by_kernel(number, first, second, third, fourth, fifth, sixth);
  };
  void* const address = reinterpret_cast<void*>(first);
  const auto size_bytes = static_cast<size_t>(second);
  switch (number) {
    case SYS_munmap:
      return unmap(
          address, size_bytes, [&] { return static_cast<int>(call()); }, HEAPPROF_HOOK_FRAME());
    case SYS_mremap:
      return word(move(
          address, size_bytes, static_cast<size_t>(third), static_cast<int>(fourth),
          [&] { return reinterpret_cast<void*>(call()); }, HEAPPROF_HOOK_FRAME()));
    case SYS_mprotect:
      return change_protection(address, size_bytes, static_cast<int>(third), static_cast<int>(call()),
                               HEAPPROF_HOOK_FRAME());
    default:
      return word(note_mapped(reinterpret_cast<void*>(call()), size_bytes, static_cast<int>(third),
                              static_cast<int>(fourth), HEAPPROF_HOOK_FRAME()));
  }
}
