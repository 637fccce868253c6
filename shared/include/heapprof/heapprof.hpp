// heapprof/heapprof.hpp: heapprof/heapprof.h for C++17: statistics as values, scopes as objects; includes
// heapprof/limits.hpp.
//
// Header only: nothing to link. In a process without the profiler each function returns its default.
//
//   if (const auto stats = heapprof::stats("cuda:0")) std::cout << stats->live_bytes;
//
//   static heapprof_name name = {"attention", "qkv", 0};
//   heapprof::scope scope(name);                        // to the end of the block
//   heapprof::scope file(heapprof::intern(path));       // a name that is known at run time
//   file.items(lines);
//
// Guarantees
//  - What heapprof.h guarantees: no function allocates on the heap, changes errno or throws.
//  - Interned names are kept once, until the end of the process, on pages of their own (the device "mapped").
//    tests/unit/public_headers/scope_test.cc
#ifndef HEAPPROF_HEAPPROF_HPP
#define HEAPPROF_HEAPPROF_HPP

#include "heapprof/heapprof.h"
#include "heapprof/limits.hpp"

#include <sys/mman.h>

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <optional>
#include <string_view>

namespace heapprof {

// Whether allocations of this process are recorded.
inline bool is_active() noexcept { return heapprof_is_active() != 0; }

// The statistics of a device, if there is an answer; if not, heapprof_get_stats() says why.
inline std::optional<heapprof_stats> stats(const char* device = "host") noexcept {
  heapprof_stats result;
  if (heapprof_get_stats(device, &result) != HEAPPROF_OK) return std::nullopt;
  return result;
}

// Gives that name to the memory that is live at that address: see heapprof_name_block().
HEAPPROF_NOT_READ_ inline void name_block(const void* address, heapprof_name& name) noexcept {
  heapprof_name_block(address, &name);
}

// What the calling thread has allocated and freed on the host.
inline std::optional<heapprof_thread_stats> thread_stats() noexcept {
  heapprof_thread_stats result;
  if (heapprof_get_thread_stats(&result) != HEAPPROF_OK) return std::nullopt;
  return result;
}

namespace detail {

constexpr std::size_t kNameBytes = 120;  // the most that the profiler keeps of each text

struct InternedName {
  heapprof_name name{};
  InternedName* next = nullptr;
  std::size_t hash = 0;
};

struct __attribute__((visibility("default"))) InternedNames {
  static constexpr std::size_t kBuckets = 1024;
  static constexpr std::size_t kChunkBytes = 65536;

  std::mutex mutex;
  InternedName* buckets[kBuckets] = {};
  char* chunk = nullptr;
  std::size_t left = 0;
  heapprof_name without_memory = {nullptr, "(names without memory)", 0};

  void* take(std::size_t bytes) {
    bytes = (bytes + alignof(InternedName) - 1) / alignof(InternedName) * alignof(InternedName);
    if (bytes > left) {
      const int error = errno;
      void* const pages = mmap(nullptr, kChunkBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      errno = error;
      if (pages == MAP_FAILED) return nullptr;
      chunk = static_cast<char*>(pages);
      left = kChunkBytes;
    }
    char* const result = chunk;
    chunk += bytes;
    left -= bytes;
    return result;
  }
};

__attribute__((visibility("default"))) inline InternedNames g_interned_names;

inline std::size_t hash_of(std::string_view text, std::size_t hash) noexcept {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

}  // namespace detail

// The one name with these texts; an empty category means no category. All names for which there is no memory are one
// name.
inline heapprof_name& intern(std::string_view category, std::string_view text) noexcept {
  category = category.substr(0, detail::kNameBytes);
  text = text.substr(0, detail::kNameBytes);
  const std::size_t hash = detail::hash_of(text, detail::hash_of(category, 14695981039346656037u) ^ 0xff);
  detail::InternedNames& all = detail::g_interned_names;
  const std::lock_guard<std::mutex> lock(all.mutex);
  detail::InternedName** const bucket = &all.buckets[hash % detail::InternedNames::kBuckets];
  for (detail::InternedName* known = *bucket; known != nullptr; known = known->next) {
    const char* const its_category = known->name.category != nullptr ? known->name.category : "";
    if (known->hash == hash && category == its_category && text == known->name.text) return known->name;
  }
  void* const memory = all.take(sizeof(detail::InternedName) + category.size() + text.size() + 2);
  if (memory == nullptr) return all.without_memory;
  auto* const made = new (memory) detail::InternedName;
  char* const words = static_cast<char*>(memory) + sizeof(detail::InternedName);
  if (!category.empty()) std::memcpy(words, category.data(), category.size());
  words[category.size()] = '\0';
  if (!text.empty()) std::memcpy(words + category.size() + 1, text.data(), text.size());
  words[category.size() + 1 + text.size()] = '\0';
  made->name.category = category.empty() ? nullptr : words;
  made->name.text = words + category.size() + 1;
  made->hash = hash;
  made->next = *bucket;
  *bucket = made;
  return made->name;
}
inline heapprof_name& intern(std::string_view text) noexcept { return intern({}, text); }

// A scope from its construction to end(), or to its destruction.
class scope {
 public:
  // name: must live as long as the program: a static or an interned one.
  explicit scope(heapprof_name& name) noexcept { heapprof_scope_begin(&scope_, &name); }
  scope(const scope&) = delete;
  scope& operator=(const scope&) = delete;
  ~scope() { end(); }

  // How much work was done, in the program's own measure.
  void items(std::uint64_t count) noexcept { scope_.items = count; }
  std::uint64_t items() const noexcept { return scope_.items; }

  // The calling thread goes on outside the scope; the same or another thread enters it again.
  void leave() noexcept { heapprof_scope_leave(&scope_); }
  void enter() noexcept { heapprof_scope_enter(&scope_); }

  void end() noexcept { heapprof_scope_end(&scope_); }

 private:
  heapprof_scope scope_;
};

// A pause of the calling thread from its construction to its destruction: see heapprof_pause().
class pause {
 public:
  pause() noexcept { heapprof_pause(); }
  pause(const pause&) = delete;
  pause& operator=(const pause&) = delete;
  ~pause() { heapprof_resume(); }
};

}  // namespace heapprof

#endif  // HEAPPROF_HEAPPROF_HPP
