// tests/targets/malloc/oracle/sites.h: every way to get and to give back memory, each called on a stack whose functions
// we know.
//
// A stack is, from the inside: do_KIND, site_00 … site_77 (octal), some of hop_0 … hop_3, some frames of descend. Its
// number gives its name and its name is unique, so a profile can be compared stack by stack.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace oracle {

// Column 2: how such a block is given back. Column 3: what libstdc++'s operator new asks malloc for: kOne more than
// nothing, kRounded up to the alignment besides.
// clang-format off
#define ORACLE_KINDS(X)                      \
  X(malloc,                kByFree,        kAsIs) \
  X(calloc,                kByFree,        kAsIs) \
  X(realloc,               kByFree,        kAsIs) \
  X(reallocarray,          kByFree,        kAsIs) \
  X(aligned_alloc,         kByFree,        kAsIs) \
  X(memalign,              kByFree,        kAsIs) \
  X(posix_memalign,        kByFree,        kAsIs) \
  X(valloc,                kByFree,        kAsIs) \
  X(pvalloc,               kByFree,        kAsIs) \
  X(new,                   kByDelete,      kOne) \
  X(new_array,             kByDeleteArray, kOne) \
  X(new_nothrow,           kByDelete,      kOne) \
  X(new_array_nothrow,     kByDeleteArray, kOne) \
  X(new_aligned,           kByDelete,      kRounded) \
  X(new_array_aligned,     kByDeleteArray, kRounded) \
  X(new_aligned_nothrow,   kByDelete,      kRounded) \
  X(new_array_aligned_nothrow, kByDeleteArray, kRounded) \
  X(new_throwing,          kByFree,        kAsIs)
// clang-format on

enum class Release : uint8_t { kByFree, kByDelete, kByDeleteArray };
enum class Change : uint8_t { kAsIs, kOne, kRounded };

enum class Kind : uint32_t {
#define X(name, release, change) k_##name,
  ORACLE_KINDS(X)
#undef X
      kCount
};
inline constexpr uint32_t kKinds = static_cast<uint32_t>(Kind::kCount);
inline constexpr uint32_t kSites = 64;

struct Request {
  Kind kind;
  void* old;          // realloc, reallocarray
  size_t count;       // calloc, reallocarray; else 1
  size_t size_bytes;  // of one element
  size_t alignment;   // 0: not an aligned kind
};

bool is_aligned_kind(Kind kind);
Release release_of(Kind kind);
// What the profile must say for a request of so many bytes.
size_t recorded_bytes(Kind kind, size_t asked_bytes, size_t alignment);
// The block that `throw std::bad_alloc` takes: header and object of the C++ ABI.
inline constexpr size_t kExceptionBytes = 136;

// Calls the function on the given stack; nullptr where it refused.
void* allocate_on_stack(uint32_t stack, const Request& request);

// Gives a block back; `variant` chooses among the forms that fit (plain, sized, aligned).
void release_block(void* block, Release release, size_t asked_bytes, size_t alignment, uint64_t variant);

// Writes the key of (kind, stack), "do_calloc site_17 hop_2 descend*4"; returns its length. pre: room for 200
// characters.
size_t write_key(char* text, Kind kind, uint32_t stack);

}  // namespace oracle
