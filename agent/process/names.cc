// agent/process/names.cc: the table is a hash table with open addressing, so that a name is found without a lock.
//
// A slot goes from free to being written to ready, and then does not change. A slot that is being written is skipped: a
// signal handler would wait for ever for the thread that it interrupted. So a name may get two numbers; the collector
// compares the text.
#include "agent/process/names.h"

#include "agent/process/arena.h"
#include "shared/kernels.h"
#include "shared/scopes.h"

#include <string.h>

namespace heapprof::agent {

namespace {

constexpr size_t kMostBytes = sizeof(wire::Name::characters);
// The number of slots in which a name is looked for. With this limit, a table that is 99 % full still takes 12 of 13
// new names, and a name that finds no slot costs 2 µs instead of 20 µs. A program that makes a new name for each of its
// steps would pay that at each step.
constexpr uint32_t kLooks = 256;
// Steps of 1, 2, 3 … reach different slots.
static_assert((wire::kMaxNames & (wire::kMaxNames - 1)) == 0 && (wire::kMaxKernels & (wire::kMaxKernels - 1)) == 0);
constexpr size_t kMostNameBytes = 1u << 20;  // of a kernel's name: a longer name counts as having this length

struct Text {
  const char* characters;
  size_t bytes;
};

// The first most_bytes bytes of the text, without a part of a UTF-8 character at the end. A character has at most three
// bytes after its first. If there are more such bytes in a row, this is not text, and it is cut anywhere.
Text text_of(const char* characters, size_t most_bytes) {
  if (characters == nullptr) return {"", 0};
  size_t bytes = strnlen(characters, most_bytes + 1);
  if (bytes <= most_bytes) return {characters, bytes};
  for (bytes = most_bytes; bytes + 3 > most_bytes && (characters[bytes] & 0xc0) == 0x80;) --bytes;
  return {characters, (characters[bytes] & 0xc0) == 0x80 ? most_bytes : bytes};
}

// FNV-1a.
constexpr uint32_t kHashStart = 2166136261u;
uint32_t add_hash(uint32_t hash, Text text) {
  for (size_t i = 0; i < text.bytes; ++i) hash = (hash ^ static_cast<unsigned char>(text.characters[i])) * 16777619u;
  return (hash ^ 0xff) * 16777619u;  // where one text ends and the next begins
}

bool is_equal(const wire::Name& name, Text category, Text text) {
  return name.category_bytes == category.bytes && name.text_bytes == text.bytes &&
         memcmp(name.characters, category.characters, category.bytes) == 0 &&
         memcmp(name.characters + category.bytes, text.characters, text.bytes) == 0;
}

// Finds the slot in which is_it(entry) recognises the name, or takes a free one, which fill(entry) fills in. Returns
// the slot's number; 0: there is no room.
template <typename Entry, typename IsIt, typename Fill>
uint32_t find_slot(Entry* entries, uint32_t count, uint32_t hash, const IsIt& is_it, const Fill& fill) {
  uint32_t slot = hash;
  for (uint32_t look = 0; look < kLooks; slot += ++look) {
    Entry& entry = entries[slot % count];
    wire::NameState state = entry.state.load(std::memory_order_acquire);  // (L)
    if (state == wire::NameState::kFree &&
        entry.state.compare_exchange_strong(state, wire::NameState::kWriting, std::memory_order_acquire)) {
      fill(&entry);
      entry.state.store(wire::NameState::kReady, std::memory_order_release);  // (L)
      return slot % count + 1;
    }
    if (state == wire::NameState::kReady && is_it(entry)) return slot % count + 1;
  }
  return 0;
}

bool is_equal(const wire::KernelName& name, Text text) {
  const size_t kept_bytes = text.bytes < sizeof name.characters ? text.bytes : sizeof name.characters;
  return name.text_bytes == text.bytes && memcmp(name.characters, text.characters, kept_bytes) == 0;
}

Text kernel_text(const char* characters) {
  return {characters == nullptr ? "" : characters, characters == nullptr ? 0 : strnlen(characters, kMostNameBytes)};
}

}  // namespace

uint32_t number_of_name(const char* category_characters, const char* text_characters) {
  const Text category = text_of(category_characters, kMostBytes / 2);
  const Text text = text_of(text_characters, kMostBytes - category.bytes);
  const uint32_t number = find_slot(
      names(), wire::kMaxNames, add_hash(add_hash(kHashStart, category), text),
      [&](const wire::Name& name) { return is_equal(name, category, text); },
      [&](wire::Name* name) {
        name->category_bytes = static_cast<uint16_t>(category.bytes);
        name->text_bytes = static_cast<uint16_t>(text.bytes);
        memcpy(name->characters, category.characters, category.bytes);
        memcpy(name->characters + category.bytes, text.characters, text.bytes);
      });
  if (number != 0) return number;
  g_control->names_lost.fetch_add(1, std::memory_order_relaxed);
  return wire::kOtherName;
}

uint32_t number_of_kernel_name(const char* characters) {
  const Text text = kernel_text(characters);
  const uint32_t number = find_slot(
      kernel_names(), wire::kMaxKernels, add_hash(kHashStart, text),
      [&](const wire::KernelName& name) { return is_equal(name, text); },
      [&](wire::KernelName* name) {
        name->text_bytes = static_cast<uint32_t>(text.bytes);
        memcpy(name->characters, text.characters,
               text.bytes < sizeof name->characters ? text.bytes : sizeof name->characters);
      });
  if (number != 0) return number;
  g_control->kernel_names_lost.fetch_add(1, std::memory_order_relaxed);
  return wire::kOtherKernel;
}

bool is_kernel_named(uint32_t number, const char* characters) {
  if (number == 0 || number > wire::kMaxKernels) return false;
  const wire::KernelName& name = kernel_names()[number - 1];
  return name.state.load(std::memory_order_acquire) == wire::NameState::kReady &&  // (L)
         is_equal(name, kernel_text(characters));
}

}  // namespace heapprof::agent
