// agent/process/link_map.cc: reads the loader's list of objects (r_debug) and each object's hash table.
//
// dlsym would do the same, but it takes the loader's lock, may call calloc, and is a new symbol version in glibc 2.34.
#include "agent/process/link_map.h"

#include "agent/arch/arch.h"
#include "agent/process/early.h"
#include "agent/process/loaded_object.h"
#include "agent/process/own_memory.h"

#include <elf.h>
#include <string.h>

namespace heapprof::agent {

namespace {

constexpr uintptr_t kLeastPageBytes = 4096;

ReadablePages g_pages;

}  // namespace

bool can_read_object(const void* from, size_t bytes) { return g_pages.hold(from, bytes); }
void forget_readable_pages() { g_pages = {}; }

bool is_object_text(const char* at, const char* text) {
  for (bool is_readable = false;; ++at, ++text) {
    if (reinterpret_cast<uintptr_t>(at) % kLeastPageBytes == 0) is_readable = false;
    if (!is_readable && !can_read_object(at, 1)) return false;
    is_readable = true;
    if (*at != *text) return false;
    if (*text == 0) return true;
  }
}

// The file does not say whether the base was added, and glibc versions differ. The right address is the one nearer to
// the dynamic section, because both lie in the object.
const void* table_address(const link_map* object, ElfW(Addr) value) {
  const auto distance = [here = reinterpret_cast<ElfW(Addr)>(object->l_ld)](ElfW(Addr) address) {
    return address < here ? here - address : address - here;
  };
  const ElfW(Addr) moved = object->l_addr + value;
  return reinterpret_cast<const void*>(distance(moved) < distance(value) ? moved : value);
}

namespace {

void* (*g_original)(void* address) = nullptr;  // nullptr: no definition was redirected

struct DynamicTables {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const ElfW(Versym) * versions = nullptr;
  const ElfW(Verdef) * definitions = nullptr;
  const uint32_t* gnu_hash = nullptr;
  const uint32_t* sysv_hash = nullptr;
  const char* soname = nullptr;
};

// Two ways to read the loader's data. Directly: at the start, or if there is no other way. The kernel is asked about
// each page first, because a table may point anywhere: tools change files without knowing all tables. WithCare: through
// the kernel, because an object that another thread is unloading may be gone at any moment, and its entry in the list
// with it.
struct Directly {
  template <typename T>
  static bool load(T* to, const T* from) {
    if (!can_read_object(from, sizeof *from)) return false;
    memcpy(to, from, sizeof *to);
    return true;
  }
  static uint32_t load_entries(ElfW(Dyn) * to, const ElfW(Dyn) * from, uint32_t) { return load(to, from) ? 1 : 0; }
  static bool is_text(const char* at, const char* text) { return is_object_text(at, text); }
};
struct WithCare {
  template <typename T>
  static bool load(T* to, const T* from) {
    return read_own_memory(to, from, sizeof *to);
  }
  static uint32_t load_entries(ElfW(Dyn) * to, const ElfW(Dyn) * from, uint32_t most) {
    return static_cast<uint32_t>(read_own_part(to, from, most * sizeof *to) / sizeof *to);
  }
  static bool is_text(const char* at, const char* text) {
    char found[128];
    for (size_t rest = strlen(text) + 1; rest != 0;) {
      const size_t bytes = rest < sizeof found ? rest : sizeof found;
      if (!read_own_memory(found, at, bytes) || memcmp(found, text, bytes) != 0) return false;
      at += bytes;
      text += bytes;
      rest -= bytes;
    }
    return true;
  }
};

template <typename Memory>
DynamicTables read_tables(const link_map& object) {
  constexpr uint32_t kAtOnce = 32;
  DynamicTables tables;
  size_t soname_offset = 0;  // 0: the empty name
  ElfW(Dyn) entries[kAtOnce];
  for (const ElfW(Dyn)* at = object.l_ld; at != nullptr;) {
    const uint32_t count = Memory::load_entries(entries, at, kAtOnce);
    at = count != 0 ? at + count : nullptr;
    for (uint32_t i = 0; i < count; ++i) {
      const void* address = table_address(&object, entries[i].d_un.d_ptr);
      switch (entries[i].d_tag) {
        case DT_NULL: at = nullptr; break;
        case DT_SYMTAB: tables.symbols = static_cast<const ElfW(Sym)*>(address); break;
        case DT_STRTAB: tables.strings = static_cast<const char*>(address); break;
        case DT_VERSYM: tables.versions = static_cast<const ElfW(Versym)*>(address); break;
        case DT_VERDEF: tables.definitions = static_cast<const ElfW(Verdef)*>(address); break;
        case DT_GNU_HASH: tables.gnu_hash = static_cast<const uint32_t*>(address); break;
        case DT_HASH: tables.sysv_hash = static_cast<const uint32_t*>(address); break;
        case DT_SONAME: soname_offset = entries[i].d_un.d_val; break;
        default: break;
      }
      if (at == nullptr && entries[i].d_tag == DT_NULL) break;
    }
  }
  if (tables.strings != nullptr) tables.soname = tables.strings + soname_offset;
  return tables;
}

struct KeptTables {
  const ElfW(Dyn) * of = nullptr;  // nullptr: none yet
  DynamicTables tables;
};
constexpr size_t kKept = 64;
constexpr size_t kTried = 8;
KeptTables g_kept[kKept];
const void* g_keeper = nullptr;

// The object's tables as they are now; while a TablesKept exists, as they were at the first look-up.
DynamicTables tables_of(const link_map& object) {
  const void* const keeper = __atomic_load_n(&g_keeper, __ATOMIC_RELAXED);
  if (keeper == nullptr || keeper != __builtin_thread_pointer()) return read_tables<Directly>(object);
  size_t at = reinterpret_cast<uintptr_t>(object.l_ld) / 4096 % kKept;
  for (size_t i = 0; i < kTried; ++i, at = (at + 1) % kKept) {
    if (g_kept[at].of == object.l_ld) return g_kept[at].tables;
    if (g_kept[at].of == nullptr) {
      g_kept[at] = {object.l_ld, read_tables<Directly>(object)};
      return g_kept[at].tables;
    }
  }
  return read_tables<Directly>(object);
}

uint32_t gnu_hash_of(const char* name) {
  uint32_t hash = 5381;
  for (; *name != 0; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

uint32_t sysv_hash_of(const char* name) {
  uint32_t hash = 0;
  for (; *name != 0; ++name) {
    hash = (hash << 4) + static_cast<unsigned char>(*name);
    hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
  }
  return hash;
}

// A symbol that is looked for. version: nullptr: the default version; else that version, or the symbol of an object
// that has no versions.
struct Wanted {
  const char* name;
  const char* version = nullptr;
  uint32_t gnu_hash = gnu_hash_of(name);
};

template <typename Memory>
bool has_version(const DynamicTables& tables, ElfW(Versym) index, const char* version) {
  constexpr ElfW(Versym) kFirstDefined = 2;   // 1: without a version
  constexpr uint32_t kMostVersions = 0x8000;  // an index has no more bits than that
  if (index < kFirstDefined) return true;
  const char* at = reinterpret_cast<const char*>(tables.definitions);
  for (uint32_t i = 0; at != nullptr && i < kMostVersions; ++i) {
    ElfW(Verdef) entry;
    if (!Memory::load(&entry, reinterpret_cast<const ElfW(Verdef)*>(at))) return false;
    if (entry.vd_ndx == index) {
      ElfW(Verdaux) first;
      return Memory::load(&first, reinterpret_cast<const ElfW(Verdaux)*>(at + entry.vd_aux)) &&
             Memory::is_text(tables.strings + first.vda_name, version);
    }
    if (entry.vd_next == 0) return false;
    at += entry.vd_next;
  }
  return false;
}

struct SymbolCopy : ElfW(Sym) {
  const ElfW(Sym) * at;
};

// glibc's library for MALLOC_CHECK_, mtrace and mcheck has malloc's family only as hidden versions. Every object that
// was linked with libc finds them, because libc's own functions have the same versions.
template <typename Memory>
bool has_hidden_malloc(const DynamicTables& tables) {
  return tables.soname != nullptr && Memory::is_text(tables.soname, "libc_malloc_debug.so.0");
}

// True if this symbol is the one that is wanted; *symbol then holds a copy of it.
template <typename Memory>
bool is_definition(const DynamicTables& tables, uint32_t index, const Wanted& wanted, SymbolCopy* symbol) {
  constexpr ElfW(Versym) kHidden = 0x8000;  // not the default version of its name
  symbol->at = tables.symbols + index;
  if (!Memory::load(static_cast<ElfW(Sym)*>(symbol), symbol->at)) return false;
  if (symbol->st_shndx == SHN_UNDEF || symbol->st_value == 0) return false;
  const unsigned bind = ELF64_ST_BIND(symbol->st_info);
  if (bind != STB_GLOBAL && bind != STB_WEAK && bind != STB_GNU_UNIQUE) return false;
  if (!Memory::is_text(tables.strings + symbol->st_name, wanted.name)) return false;
  if (tables.versions == nullptr) return true;
  ElfW(Versym) version;
  if (!Memory::load(&version, tables.versions + index)) return false;
  if (wanted.version == nullptr) return (version & kHidden) == 0 || has_hidden_malloc<Memory>(tables);
  return has_version<Memory>(tables, version & static_cast<ElfW(Versym)>(~kHidden), wanted.version);
}

constexpr uint32_t kMostInChain = 1u << 24;  // a chain may have no end, or be a ring

template <typename Memory>
bool find_by_gnu_hash(const DynamicTables& tables, const Wanted& wanted, SymbolCopy* symbol) {
  struct Header {
    uint32_t bucket_count;
    uint32_t first_symbol;
    uint32_t bloom_words;
    uint32_t bloom_shift;
  };
  Header header;
  if (!Memory::load(&header, reinterpret_cast<const Header*>(tables.gnu_hash))) return false;
  if (header.bucket_count == 0 || header.bloom_words == 0) return false;
  const auto* bloom = reinterpret_cast<const uint64_t*>(tables.gnu_hash + 4);
  const auto* buckets = reinterpret_cast<const uint32_t*>(bloom + header.bloom_words);
  const uint32_t* chains = buckets + header.bucket_count;
  const uint32_t hash = wanted.gnu_hash;
  const uint64_t mask = 1ull << hash % 64 | 1ull << (hash >> header.bloom_shift % 32) % 64;
  uint64_t word;
  if (!Memory::load(&word, bloom + hash / 64 % header.bloom_words) || (word & mask) != mask) return false;
  uint32_t index;
  if (!Memory::load(&index, buckets + hash % header.bucket_count) || index < header.first_symbol) return false;
  for (uint32_t i = 0; i < kMostInChain; ++i, ++index) {
    uint32_t chain;
    if (!Memory::load(&chain, chains + (index - header.first_symbol))) return false;
    if ((chain | 1) == (hash | 1) && is_definition<Memory>(tables, index, wanted, symbol)) return true;
    if ((chain & 1) != 0) return false;
  }
  return false;
}

template <typename Memory>
bool find_by_sysv_hash(const DynamicTables& tables, const Wanted& wanted, SymbolCopy* symbol) {
  uint32_t bucket_count;
  if (!Memory::load(&bucket_count, tables.sysv_hash) || bucket_count == 0) return false;
  const uint32_t* buckets = tables.sysv_hash + 2;
  const uint32_t* chains = buckets + bucket_count;
  uint32_t index;
  if (!Memory::load(&index, buckets + sysv_hash_of(wanted.name) % bucket_count)) return false;
  for (uint32_t i = 0; index != 0 && i < kMostInChain; ++i) {
    if (is_definition<Memory>(tables, index, wanted, symbol)) return true;
    if (!Memory::load(&index, chains + index)) return false;
  }
  return false;
}

template <typename Memory>
bool find_symbol(const DynamicTables& tables, const Wanted& wanted, SymbolCopy* symbol) {
  if (tables.symbols == nullptr || tables.strings == nullptr) return false;
  if (tables.gnu_hash != nullptr) return find_by_gnu_hash<Memory>(tables, wanted, symbol);
  return tables.sysv_hash != nullptr && find_by_sysv_hash<Memory>(tables, wanted, symbol);
}

template <typename Memory>
void* find_in_object(const link_map& object, const DynamicTables& tables, const Wanted& wanted, bool is_function) {
  SymbolCopy symbol;
  if (!find_symbol<Memory>(tables, wanted, &symbol)) return nullptr;
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  if (is_function && type != STT_FUNC && type != STT_GNU_IFUNC) return nullptr;
  void* address = reinterpret_cast<void*>(object.l_addr + symbol.st_value);
  if (type == STT_GNU_IFUNC) address = reinterpret_cast<void* (*)()>(address)();
  void* (*const original)(void*) = __atomic_load_n(&g_original, __ATOMIC_ACQUIRE);
  return original == nullptr ? address : original(address);
}

void* find_in_object(const link_map* object, const Wanted& wanted) {
  return find_in_object<Directly>(*object, tables_of(*object), wanted, false);
}

// The agent's own dynamic section identifies the agent in the list.
extern "C" __attribute__((visibility("hidden"))) const ElfW(Dyn) _DYNAMIC[];

bool is_agent(const link_map& object) { return object.l_ld == _DYNAMIC; }

// The vdso defines names of its own (clock_gettime …); the loader does not search it either. It is never unloaded.
const link_map* g_vdso = nullptr;
bool is_vdso(const link_map* object) {
  if (g_vdso == nullptr && strncmp(object->l_name, "linux-vdso", 10) == 0) g_vdso = object;
  return object == g_vdso;
}

}  // namespace

namespace {

Definition find_behind(const Wanted& wanted) {
  bool behind = is_loaded_late();
  for (const link_map* object = first_object(); object != nullptr; object = object->l_next) {
    const bool is_own = is_agent(*object);
    if (behind && !is_own && !is_vdso(object)) {
      if (void* address = find_in_object(object, wanted)) return {address, object};
    }
    behind = behind || is_own;
  }
  return {};
}

}  // namespace

TablesKept::TablesKept(bool is_wanted) {
  if (is_wanted) __atomic_store_n(&g_keeper, __builtin_thread_pointer(), __ATOMIC_RELAXED);
}
TablesKept::~TablesKept() { __atomic_store_n(&g_keeper, nullptr, __ATOMIC_RELAXED); }

bool is_loaded_late() {
  static int known = 0;  // 1: no, 2: yes
  if (int answer = __atomic_load_n(&known, __ATOMIC_RELAXED); answer != 0) return answer == 2;
  bool has_libc = false;
  const link_map* object = first_object();
  for (; object != nullptr && !is_agent(*object); object = object->l_next) {
    has_libc = has_libc || find_in_object(object, {"gnu_get_libc_version"}) != nullptr;
  }
  __atomic_store_n(&known, has_libc ? 2 : 1, __ATOMIC_RELAXED);
  return has_libc;
}

void translate_definitions(void* (*original)(void* address)) {
  __atomic_store_n(&g_original, original, __ATOMIC_RELEASE);
}

const link_map* first_object() {
  const r_debug* const state = loader_state();
  return state == nullptr ? nullptr : state->r_map;
}

Definition find_behind_agent(const char* name) { return find_behind({name}); }
Definition find_version_behind_agent(const char* name, const char* version) { return find_behind({name, version}); }

namespace {

const link_map* g_last_of_first = nullptr;

template <typename Memory>
void* find_late(const LateFunction& function, bool* is_certain) {
  constexpr uint32_t kMostObjects = 65536;  // a list that is being changed may have no end
  const Wanted wanted{function.name, function.version};
  void* found = nullptr;
  bool is_behind = is_loaded_late();
  bool is_first = true;
  *is_certain = false;
  const link_map* at = first_object();
  for (uint32_t i = 0; at != nullptr && !*is_certain && i < kMostObjects; ++i) {
    link_map object;
    if (!Memory::load(&object, at)) break;
    if (is_behind && at != g_vdso && !is_agent(object)) {
      const DynamicTables tables = read_tables<Memory>(object);
      void* address = find_in_object<Memory>(object, tables, wanted, !function.is_data);
      if (address != nullptr && (!can_tell_loaded() || is_surely_loaded(address))) {
        const bool has_name =
            function.soname != nullptr && tables.soname != nullptr && Memory::is_text(tables.soname, function.soname);
        *is_certain = is_first || has_name || (function.version != nullptr && tables.definitions != nullptr);
        if (*is_certain || found == nullptr) found = address;
      }
    }
    is_behind = is_behind || is_agent(object);
    is_first = is_first && at != g_last_of_first;
    at = object.l_next;
  }
  return found;
}

}  // namespace

void note_first_objects() {
  for (const link_map* object = first_object(); object != nullptr; object = object->l_next) {
    g_last_of_first = object;
    is_vdso(object);
  }
}

void* find_late_behind_agent(const LateFunction& function, void** kept) {
  const link_map* first = nullptr;
  const bool can_read = read_own_memory(&first, &loader_state()->r_map, sizeof first);
  bool is_certain = false;
  void* found = can_read ? find_late<WithCare>(function, &is_certain) : find_late<Directly>(function, &is_certain);
  if (found == nullptr || (!is_certain && function.soname != nullptr)) return found;
  void* const before = __atomic_load_n(kept, __ATOMIC_RELAXED);
  __atomic_store_n(kept, found, __ATOMIC_RELEASE);
  // If another thread unloaded the object during the search, that thread has reset *kept already: undo the store.
  if (can_tell_loaded() && !is_surely_loaded(found)) __atomic_store_n(kept, before, __ATOMIC_RELEASE);
  return found;
}

bool is_unloading() {
  // struct r_debug_extended of <link.h> in glibc 2.35 and later: part of its ABI. Version 2 says that it is there.
  struct Namespace {
    r_debug state;
    const Namespace* next;
  };
  const r_debug* state = loader_state();
  while (state->r_state != r_debug::RT_DELETE) {
    if (state->r_version < 2) return false;
    const Namespace* next = reinterpret_cast<const Namespace*>(state)->next;
    if (next == nullptr) return false;
    state = &next->state;
  }
  return true;
}

const link_map* agent_object() {
  const link_map* object = first_object();
  while (object != nullptr && !is_agent(*object)) object = object->l_next;
  return object;
}

void* find_in_agent(const char* name) {
  const link_map* object = agent_object();
  return object == nullptr ? nullptr : find_in_object(object, {name});
}

bool is_passed_over(const link_map* object) { return is_agent(*object) || is_vdso(object); }

void* find_in_vdso(const char* name) {
  const link_map* object = first_object();
  while (object != nullptr && !is_vdso(object)) object = object->l_next;
  return object == nullptr ? nullptr : find_in_object(object, {name});
}

void find_symbols_in_object(const link_map* object, SoughtSymbol* symbols, size_t count) {
  const DynamicTables tables = tables_of(*object);
  for (size_t i = 0; i < count; ++i) {
    SymbolCopy found;
    if (symbols[i].symbol != nullptr) continue;
    if (!find_symbol<Directly>(tables, {symbols[i].name, symbols[i].version}, &found)) continue;
    symbols[i].symbol = found.at;
    symbols[i].object = object;
  }
}

void find_symbols_in_process(SoughtSymbol* symbols, size_t count) {
  for (const link_map* object = first_object(); object != nullptr; object = object->l_next) {
    if (!is_passed_over(object)) find_symbols_in_object(object, symbols, count);
  }
}

Definition find_in_glibc(const char* name) {
  constexpr const char* kSonames[] = {"libc.so.6", kLoaderSoname, "libpthread.so.0"};
  for (const link_map* object = first_object(); object != nullptr; object = object->l_next) {
    const DynamicTables tables = tables_of(*object);
    bool is_glibc = false;
    for (const char* soname : kSonames)
      is_glibc = is_glibc || (tables.soname != nullptr && is_object_text(tables.soname, soname));
    if (!is_glibc) continue;
    if (void* address = find_in_object<Directly>(*object, tables, {name}, false)) return {address, object};
  }
  return {};
}

Definition find_in_process(const char* name) {
  for (const link_map* object = first_object(); object != nullptr; object = object->l_next) {
    if (is_agent(*object) || is_vdso(object)) continue;
    if (void* address = find_in_object(object, {name})) return {address, object};
  }
  return {};
}

}  // namespace heapprof::agent
