// agent/process/names.cc: the table is a hash table with open addressing, so that a name is found without a lock.
//
// A slot goes from free to being written to ready, and then stays as it is. One that is being written is passed by: a
// signal handler would wait for ever for the thread that it interrupted. So a name may get two numbers; the collector
// goes by the text.
#include "agent/process/names.h"

#include "agent/process/arena.h"
#include "shared/scopes.h"

#include <string.h>

namespace heapprof::agent {

namespace {

constexpr size_t kMostBytes = sizeof(wire::Name::characters);
// Slots that a name is looked for in. A table that is full to 99 % has room for 12 names of 13 still, and a name that
// finds none costs 2 µs and not 20, which a program that makes a name for each of its steps would pay at each.
constexpr uint32_t kLooks = 256;
static_assert((wire::kMaxNames & (wire::kMaxNames - 1)) == 0);  // steps of 1, 2, 3 … come by different slots

struct Text {
  const char* characters;
  size_t bytes;
};

// At most so many bytes of it, and no part of a character of UTF-8: that has three bytes at most behind its first, and
// what has more of them is no text and is cut anywhere.
Text text_of(const char* characters, size_t most_bytes) {
  if (characters == nullptr) return {"", 0};
  size_t bytes = strnlen(characters, most_bytes + 1);
  if (bytes <= most_bytes) return {characters, bytes};
  for (bytes = most_bytes; bytes + 3 > most_bytes && (characters[bytes] & 0xc0) == 0x80;) --bytes;
  return {characters, (characters[bytes] & 0xc0) == 0x80 ? most_bytes : bytes};
}

// FNV-1a.
uint32_t add_hash(uint32_t hash, Text text) {
  for (size_t i = 0; i < text.bytes; ++i) hash = (hash ^ static_cast<unsigned char>(text.characters[i])) * 16777619u;
  return (hash ^ 0xff) * 16777619u;  // where one text ends and the next begins
}

bool is_equal(const wire::Name& name, Text category, Text text) {
  return name.category_bytes == category.bytes && name.text_bytes == text.bytes &&
         memcmp(name.characters, category.characters, category.bytes) == 0 &&
         memcmp(name.characters + category.bytes, text.characters, text.bytes) == 0;
}

}  // namespace

uint32_t number_of_name(const char* category_characters, const char* text_characters) {
  const Text category = text_of(category_characters, kMostBytes / 2);
  const Text text = text_of(text_characters, kMostBytes - category.bytes);
  uint32_t slot = add_hash(add_hash(2166136261u, category), text);
  for (uint32_t look = 0; look < kLooks; slot += ++look) {
    wire::Name& name = names()[slot % wire::kMaxNames];
    wire::NameState state = name.state.load(std::memory_order_acquire);  // (L)
    if (state == wire::NameState::kFree &&
        name.state.compare_exchange_strong(state, wire::NameState::kWriting, std::memory_order_acquire)) {
      name.category_bytes = static_cast<uint16_t>(category.bytes);
      name.text_bytes = static_cast<uint16_t>(text.bytes);
      memcpy(name.characters, category.characters, category.bytes);
      memcpy(name.characters + category.bytes, text.characters, text.bytes);
      name.state.store(wire::NameState::kReady, std::memory_order_release);  // (L)
      return slot % wire::kMaxNames + 1;
    }
    if (state == wire::NameState::kReady && is_equal(name, category, text)) return slot % wire::kMaxNames + 1;
  }
  g_control->names_lost.fetch_add(1, std::memory_order_relaxed);
  return wire::kOtherName;
}

}  // namespace heapprof::agent
