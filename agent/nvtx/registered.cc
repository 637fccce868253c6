// agent/nvtx/registered.cc: tables with open addressing, which need no waiting and no allocation.
//
// A slot goes from free to being written to ready, and then never changes, as in process/names.cc. If two threads, or a
// thread and its handler, register a name at the same moment, it may get two slots: two handles, both valid.
//
// The ids of another tool's ranges come and go. A look-up always searches all of the kWindow slots from the key's hash
// on, and no others: so a removed key's slot may be freed at once.
#include "agent/nvtx/registered.h"

#include "agent/libc/raw.h"
#include "agent/process/arena.h"
#include "agent/process/names.h"
#include "agent/process/state.h"

#include <string.h>

namespace heapprof::agent::nvtx {

namespace {

enum class State : uint32_t { kFree = 0, kWriting = 1, kReady = 2 };

constexpr size_t kNameRoom = 64;  // for a domain's or category's name: names keep 60
constexpr uint32_t kOtherDomain = kMostDomains - 1;

struct NamedDomain {
  std::atomic<State> state;  // pairs with (N)
  uint32_t bytes;            // of the whole name, like `hash`: `name` may hold only its beginning
  uint64_t hash;
  char name[kNameRoom];
};
HEAPPROF_LARGE constinit NamedDomain g_domains[kMostDomains];

struct Category {
  std::atomic<State> state;  // pairs with (N)
  uint32_t number;
  char name[kNameRoom];
};
constexpr uint32_t kMostCategories = 1024;
HEAPPROF_LARGE constinit Category g_categories[kMostCategories];

struct KeptString {
  std::atomic<State> state;  // pairs with (N)
  uint32_t domain;
  std::atomic<uint64_t> key;  // as heapprof_name's
  char text[kTextRoom];
};
HEAPPROF_LARGE constinit KeptString g_strings[kMostStrings + 1];  // the last one is for all further ones

uint32_t hash_of(const char* text, uint32_t hash) {
  for (; *text != 0; ++text) hash = (hash ^ static_cast<unsigned char>(*text)) * 16777619u;
  return hash;
}

// False: another thread has taken it, or it was not free.
bool take(std::atomic<State>& state, State& seen) {
  return seen == State::kFree && state.compare_exchange_strong(seen, State::kWriting, std::memory_order_acquire);
}

template <size_t kRoom>
void copy_text(char (&to)[kRoom], const char* from) {
  const size_t bytes = strnlen(from, kRoom - 1);
  memcpy(to, from, bytes);
  to[bytes] = 0;
}

template <size_t kRoom>
bool is_kept_of(const char (&kept)[kRoom], const char* text) {
  return strncmp(kept, text, kRoom - 1) == 0;
}

// The index of the element that the pointer points to; `count`: it points to no element.
template <typename Element>
uint32_t index_in(const Element* table, uint32_t count, const void* pointer) {
  const uint64_t offset = reinterpret_cast<uint64_t>(pointer) - reinterpret_cast<uint64_t>(table);
  return offset < count * sizeof(Element) && offset % sizeof(Element) == 0
             ? static_cast<uint32_t>(offset / sizeof(Element))
             : count;
}

// ---- Another tool's handles and ids ----

constexpr uint32_t kWindow = 16;
constexpr uint64_t kTaking = ~0ull;  // as a key: being written

struct Pair {
  std::atomic<uint64_t> key;  // pairs with (N)
  std::atomic<uint64_t> value;
};

template <uint32_t kCount>
struct PairTable {
  Pair pairs[kCount];

  Pair* at(uint64_t key, uint32_t look) {
    const uint64_t hash = key * 0x9e3779b97f4a7c15ull;
    return &pairs[((hash >> 40) + look) % kCount];
  }
  Pair* find(uint64_t key) {
    for (uint32_t look = 0; look < kWindow; ++look) {
      Pair* const pair = at(key, look);
      if (pair->key.load(std::memory_order_acquire) == key) return pair;  // (N)
    }
    return nullptr;
  }
  bool put(uint64_t key, uint64_t value) {
    if (key == 0 || key == kTaking) return false;
    if (Pair* const known = find(key)) {
      known->value.store(value, std::memory_order_relaxed);
      return true;
    }
    for (uint32_t look = 0; look < kWindow; ++look) {
      Pair* const pair = at(key, look);
      uint64_t seen = 0;
      if (!pair->key.compare_exchange_strong(seen, kTaking, std::memory_order_acquire)) continue;
      pair->value.store(value, std::memory_order_relaxed);
      pair->key.store(key, std::memory_order_release);  // (N)
      return true;
    }
    return false;
  }
  uint64_t get(uint64_t key) {
    const Pair* const pair = key == 0 || key == kTaking ? nullptr : find(key);
    return pair == nullptr ? 0 : pair->value.load(std::memory_order_relaxed);
  }
  uint64_t take_out(uint64_t key) {
    Pair* const pair = key == 0 || key == kTaking ? nullptr : find(key);
    if (pair == nullptr) return 0;
    const uint64_t value = pair->value.load(std::memory_order_relaxed);
    return pair->key.compare_exchange_strong(key, 0, std::memory_order_acq_rel) ? value : 0;
  }
};
constinit PairTable<2048> g_their_domains;
HEAPPROF_LARGE constinit PairTable<16384> g_their_strings;
HEAPPROF_LARGE constinit PairTable<16384> g_their_ranges;

uint64_t number_of(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

const KeptString* string_of(const String* handle) {
  uint32_t index = index_in(g_strings, kMostStrings + 1, handle);
  if (index > kMostStrings) {
    const uint64_t ours = g_their_strings.get(number_of(handle));
    index = index_in(g_strings, kMostStrings + 1, reinterpret_cast<const void*>(ours));
  }
  if (index > kMostStrings) return nullptr;
  return index == kMostStrings || g_strings[index].state.load(std::memory_order_acquire) == State::kReady  // (N)
             ? &g_strings[index]
             : nullptr;
}

// Writes a character as UTF-8. Returns its bytes.
size_t put_character(char (&to)[4], uint32_t character) {
  if (character > 0x10ffff || (character >= 0xd800 && character < 0xe000)) character = 0xfffd;
  if (character < 0x80) {
    to[0] = static_cast<char>(character);
    return 1;
  }
  const size_t bytes = character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
  for (size_t i = bytes; i-- > 1; character >>= 6) to[i] = static_cast<char>(0x80 | (character & 0x3f));
  to[0] = static_cast<char>((0xf00 >> bytes & 0xff) | character);
  return bytes;
}

}  // namespace

const char* narrow(char (&to)[kTextRoom], const wchar_t* from) {
  if (from == nullptr) return nullptr;
  size_t end = 0;
  for (; *from != 0; ++from) {
    char character[4];
    const size_t bytes = put_character(character, static_cast<uint32_t>(*from));
    if (end + bytes >= kTextRoom) break;
    memcpy(to + end, character, bytes);
    end += bytes;
  }
  to[end] = 0;
  return to;
}

Domain* register_domain(const char* name) {
  if (name == nullptr) return nullptr;
  const auto bytes = static_cast<uint32_t>(strlen(name));
  const uint64_t hash = uint64_t{hash_of(name, 2166136261u)} << 32 | hash_of(name, 0x9e3779b9);
  for (uint32_t i = 1; i < kOtherDomain; ++i) {
    NamedDomain& domain = g_domains[i];
    State state = domain.state.load(std::memory_order_acquire);  // (N)
    if (take(domain.state, state)) {
      copy_text(domain.name, name);
      domain.bytes = bytes;
      domain.hash = hash;
      domain.state.store(State::kReady, std::memory_order_release);  // (N)
      return reinterpret_cast<Domain*>(&domain);
    }
    if (state == State::kReady && domain.hash == hash && domain.bytes == bytes && is_kept_of(domain.name, name))
      return reinterpret_cast<Domain*>(&domain);
  }
  return reinterpret_cast<Domain*>(&g_domains[kOtherDomain]);
}

uint32_t domain_of(const Domain* handle) {
  if (handle == nullptr) return 0;
  uint32_t index = index_in(g_domains, kMostDomains, handle);
  if (index == kMostDomains) {
    const uint64_t ours = g_their_domains.get(number_of(handle));
    index = index_in(g_domains, kMostDomains, reinterpret_cast<const void*>(ours));
  }
  return index == kMostDomains ? 0 : index;
}

const char* domain_name(uint32_t domain) {
  if (domain == kOtherDomain) return "(other domains)";
  return g_domains[domain].state.load(std::memory_order_acquire) == State::kReady ? g_domains[domain].name : "";  // (N)
}

void note_domain(const Domain* theirs, const Domain* ours) { g_their_domains.put(number_of(theirs), number_of(ours)); }

void name_category(uint32_t number, const char* name) {
  if (name == nullptr) return;
  for (uint32_t look = 0; look < kMostCategories; ++look) {
    Category& category = g_categories[(number + look) % kMostCategories];
    State state = category.state.load(std::memory_order_acquire);  // (N)
    if (take(category.state, state)) {
      category.number = number;
      copy_text(category.name, name);
      category.state.store(State::kReady, std::memory_order_release);  // (N)
      return;
    }
    if (state == State::kReady && category.number == number) return;
  }
}

const char* category_name(uint32_t number) {
  if (number == 0) return nullptr;
  for (uint32_t look = 0; look < kMostCategories; ++look) {
    const Category& category = g_categories[(number + look) % kMostCategories];
    const State state = category.state.load(std::memory_order_acquire);  // (N)
    if (state == State::kFree) return nullptr;
    if (state == State::kReady && category.number == number) return category.name;
  }
  return nullptr;
}

String* register_string(uint32_t domain, const char* text) {
  if (text == nullptr) return nullptr;
  char start[kTextRoom];
  copy_text(start, text);
  const uint32_t hash = hash_of(start, 2166136261u ^ domain);
  for (uint32_t look = 0; look < kMostStrings; ++look) {
    KeptString& kept = g_strings[(hash + look) % kMostStrings];
    State state = kept.state.load(std::memory_order_acquire);  // (N)
    if (take(kept.state, state)) {
      kept.domain = domain;
      memcpy(kept.text, start, sizeof start);
      kept.state.store(State::kReady, std::memory_order_release);  // (N)
      return reinterpret_cast<String*>(&kept);
    }
    if (state == State::kReady && kept.domain == domain && is_kept_of(kept.text, start))
      return reinterpret_cast<String*>(&kept);
  }
  return reinterpret_cast<String*>(&g_strings[kMostStrings]);
}

void note_string(const String* theirs, const String* ours) { g_their_strings.put(number_of(theirs), number_of(ours)); }

uint32_t number_of_string(const String* handle, uint32_t domain, const char* category) {
  const KeptString* const kept = string_of(handle);
  if (kept == nullptr) return number_of_text(domain, category, "(unknown string)");
  if (kept == &g_strings[kMostStrings]) {
    g_control->names_lost.fetch_add(1, std::memory_order_relaxed);
    return wire::kOtherName;
  }
  if (kept->domain != domain || category != nullptr) return number_of_text(domain, category, kept->text);
  const uint64_t key = kept->key.load(std::memory_order_relaxed);
  if (HEAPPROF_LIKELY(key >> 32 == g_session)) return static_cast<uint32_t>(key);
  const uint32_t number = number_of_text(domain, nullptr, kept->text);
  const_cast<KeptString*>(kept)->key.store(static_cast<uint64_t>(g_session) << 32 | number, std::memory_order_relaxed);
  return number;
}

uint32_t number_of_text(uint32_t domain, const char* category, const char* text) {
  const char* const of = domain != 0 ? domain_name(domain) : category;
  return number_of_name(of, text != nullptr ? text : "(no message)");
}

namespace {
// A tool may number the ranges of each domain separately.
uint64_t range_key(uint32_t domain, uint64_t theirs) { return theirs + domain * 0xd6e8feb86659fd93ull; }
}  // namespace

bool note_range(uint32_t domain, uint64_t theirs, uint64_t ours) {
  return g_their_ranges.put(range_key(domain, theirs), ours);
}

uint64_t take_range(uint32_t domain, uint64_t theirs) { return g_their_ranges.take_out(range_key(domain, theirs)); }

}  // namespace heapprof::agent::nvtx
