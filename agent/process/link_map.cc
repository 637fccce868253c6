// agent/process/link_map.cc: reads the loader's list of objects (_r_debug) and each object's hash table.
//
// dlsym would do the same, but it takes the loader's lock, may call calloc, and is a new symbol version in glibc 2.34.
#include "agent/process/link_map.h"

#include <elf.h>
#include <string.h>

namespace heapprof::agent {

namespace {

struct DynamicTables {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const ElfW(Versym) * versions = nullptr;
  const ElfW(Verdef) * definitions = nullptr;
  const uint32_t* gnu_hash = nullptr;
  const uint32_t* sysv_hash = nullptr;
  const char* soname = nullptr;
};

// glibc relocates the addresses in a loaded object's dynamic section, except where it is read-only (vdso): both are
// handled.
const void* table_address(const link_map* object, ElfW(Addr) value) {
  return reinterpret_cast<const void*>(value < object->l_addr ? object->l_addr + value : value);
}

DynamicTables read_tables(const link_map* object) {
  DynamicTables tables;
  size_t soname_offset = 0;  // 0: the empty name
  if (object->l_ld == nullptr) return tables;
  for (const ElfW(Dyn)* entry = object->l_ld; entry->d_tag != DT_NULL; ++entry) {
    const void* address = table_address(object, entry->d_un.d_ptr);
    switch (entry->d_tag) {
      case DT_SYMTAB: tables.symbols = static_cast<const ElfW(Sym)*>(address); break;
      case DT_STRTAB: tables.strings = static_cast<const char*>(address); break;
      case DT_VERSYM: tables.versions = static_cast<const ElfW(Versym)*>(address); break;
      case DT_VERDEF: tables.definitions = static_cast<const ElfW(Verdef)*>(address); break;
      case DT_GNU_HASH: tables.gnu_hash = static_cast<const uint32_t*>(address); break;
      case DT_HASH: tables.sysv_hash = static_cast<const uint32_t*>(address); break;
      case DT_SONAME: soname_offset = entry->d_un.d_val; break;
      default: break;
    }
  }
  if (tables.strings != nullptr) tables.soname = tables.strings + soname_offset;
  return tables;
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
  const char* version;
};

bool has_version(const DynamicTables& tables, ElfW(Versym) index, const char* version) {
  constexpr ElfW(Versym) kFirstDefined = 2;  // 1: without a version
  if (index < kFirstDefined) return true;
  for (const ElfW(Verdef)* entry = tables.definitions; entry != nullptr;) {
    if (entry->vd_ndx == index) {
      const auto* first = reinterpret_cast<const ElfW(Verdaux)*>(reinterpret_cast<const char*>(entry) + entry->vd_aux);
      return strcmp(tables.strings + first->vda_name, version) == 0;
    }
    if (entry->vd_next == 0) return false;
    entry = reinterpret_cast<const ElfW(Verdef)*>(reinterpret_cast<const char*>(entry) + entry->vd_next);
  }
  return false;
}

bool is_definition(const DynamicTables& tables, uint32_t index, const Wanted& wanted) {
  constexpr ElfW(Versym) kHidden = 0x8000;  // not the default version of its name
  const ElfW(Sym)& symbol = tables.symbols[index];
  if (symbol.st_shndx == SHN_UNDEF || symbol.st_value == 0) return false;
  const unsigned bind = ELF64_ST_BIND(symbol.st_info);
  if (bind != STB_GLOBAL && bind != STB_WEAK && bind != STB_GNU_UNIQUE) return false;
  if (strcmp(tables.strings + symbol.st_name, wanted.name) != 0) return false;
  if (tables.versions == nullptr) return true;
  if (wanted.version == nullptr) return (tables.versions[index] & kHidden) == 0;
  return has_version(tables, tables.versions[index] & static_cast<ElfW(Versym)>(~kHidden), wanted.version);
}

const ElfW(Sym) * find_by_gnu_hash(const DynamicTables& tables, const Wanted& wanted) {
  const uint32_t* header = tables.gnu_hash;  // buckets, first symbol, Bloom words, Bloom shift
  const uint32_t bucket_count = header[0];
  const uint32_t first_symbol = header[1];
  const uint32_t bloom_words = header[2];
  const uint64_t* bloom = reinterpret_cast<const uint64_t*>(header + 4);
  const uint32_t* buckets = reinterpret_cast<const uint32_t*>(bloom + bloom_words);
  const uint32_t* chains = buckets + bucket_count;
  if (bucket_count == 0 || bloom_words == 0) return nullptr;
  const uint32_t hash = gnu_hash_of(wanted.name);
  const uint64_t word = bloom[hash / 64 % bloom_words];
  const uint64_t mask = 1ull << hash % 64 | 1ull << (hash >> header[3]) % 64;
  if ((word & mask) != mask) return nullptr;
  uint32_t index = buckets[hash % bucket_count];
  if (index < first_symbol) return nullptr;
  for (;; ++index) {
    const uint32_t chain = chains[index - first_symbol];
    if ((chain | 1) == (hash | 1) && is_definition(tables, index, wanted)) return &tables.symbols[index];
    if ((chain & 1) != 0) return nullptr;
  }
}

const ElfW(Sym) * find_by_sysv_hash(const DynamicTables& tables, const Wanted& wanted) {
  const uint32_t bucket_count = tables.sysv_hash[0];
  const uint32_t* buckets = tables.sysv_hash + 2;
  const uint32_t* chains = buckets + bucket_count;
  if (bucket_count == 0) return nullptr;
  for (uint32_t index = buckets[sysv_hash_of(wanted.name) % bucket_count]; index != 0; index = chains[index]) {
    if (is_definition(tables, index, wanted)) return &tables.symbols[index];
  }
  return nullptr;
}

void* find_in_object(const link_map* object, const Wanted& wanted, bool is_function) {
  const DynamicTables tables = read_tables(object);
  if (tables.symbols == nullptr || tables.strings == nullptr) return nullptr;
  const ElfW(Sym)* symbol = nullptr;
  if (tables.gnu_hash != nullptr) {
    symbol = find_by_gnu_hash(tables, wanted);
  } else if (tables.sysv_hash != nullptr) {
    symbol = find_by_sysv_hash(tables, wanted);
  }
  if (symbol == nullptr) return nullptr;
  const unsigned type = ELF64_ST_TYPE(symbol->st_info);
  if (is_function && type != STT_FUNC && type != STT_GNU_IFUNC) return nullptr;
  void* address = reinterpret_cast<void*>(object->l_addr + symbol->st_value);
  if (type == STT_GNU_IFUNC) address = reinterpret_cast<void* (*)()>(address)();
  return address;
}

// The agent's own dynamic section tells which object of the list it is.
extern "C" __attribute__((visibility("hidden"))) const ElfW(Dyn) _DYNAMIC[];

bool is_agent(const link_map* object) { return object->l_ld == _DYNAMIC; }

// The vdso defines names of its own (clock_gettime …); the loader does not search it either.
bool is_vdso(const link_map* object) { return strncmp(object->l_name, "linux-vdso", 10) == 0; }

}  // namespace

namespace {

Definition find_behind(const Wanted& wanted) {
  bool behind = false;
  for (const link_map* object = _r_debug.r_map; object != nullptr; object = object->l_next) {
    if (behind && !is_vdso(object)) {
      if (void* address = find_in_object(object, wanted, false)) return {address, object};
    }
    if (is_agent(object)) behind = true;
  }
  return {};
}

}  // namespace

Definition find_behind_agent(const char* name) { return find_behind({name, nullptr}); }

namespace {

using IterateFunction = int (*)(int (*)(dl_phdr_info*, size_t, void*), void*);
IterateFunction g_iterate = nullptr;
const link_map* g_last_of_first = nullptr;

// Runs f while no object is unloaded: the loader keeps its list as it is for the time of a callback.
template <typename F>
void with_list_kept(bool waits, F&& f) {
  if (!waits || g_iterate == nullptr) return f();
  g_iterate(
      [](dl_phdr_info*, size_t, void* function) {
        (*static_cast<F*>(function))();
        return 1;
      },
      &f);
}

}  // namespace

void note_first_objects() {
  // libc's dl_iterate_phdr: another's of that name may allocate, or keep a list of its own.
  const Definition libc = find_in_process("gnu_get_libc_version");
  if (libc.object != nullptr)
    g_iterate = reinterpret_cast<IterateFunction>(find_in_object(libc.object, {"dl_iterate_phdr", nullptr}, true));
  for (const link_map* object = _r_debug.r_map; object != nullptr; object = object->l_next) g_last_of_first = object;
}

void* find_late_behind_agent(const LateFunction& function, void** kept, bool waits) {
  void* found = nullptr;
  with_list_kept(waits, [&] {
    const Wanted wanted{function.name, function.version};
    bool is_behind = false;
    bool is_first = true;
    bool is_certain = false;
    for (const link_map* object = _r_debug.r_map; object != nullptr && !is_certain; object = object->l_next) {
      void* address = is_behind && !is_vdso(object) ? find_in_object(object, wanted, true) : nullptr;
      if (address != nullptr) {
        const DynamicTables tables = read_tables(object);
        const bool has_name =
            function.soname != nullptr && tables.soname != nullptr && strcmp(tables.soname, function.soname) == 0;
        is_certain = is_first || has_name || (function.version != nullptr && tables.definitions != nullptr);
        if (is_certain || found == nullptr) found = address;
      }
      is_behind = is_behind || is_agent(object);
      is_first = is_first && object != g_last_of_first;
    }
    // Stored while the list is kept: afterwards another thread may unload the object, and have what is kept forgotten.
    if (found != nullptr && (is_certain || function.soname == nullptr)) __atomic_store_n(kept, found, __ATOMIC_RELEASE);
  });
  return found;
}

Definition find_in_process(const char* name) {
  for (const link_map* object = _r_debug.r_map; object != nullptr; object = object->l_next) {
    if (is_agent(object) || is_vdso(object)) continue;
    if (void* address = find_in_object(object, {name, nullptr}, false)) return {address, object};
  }
  return {};
}

}  // namespace heapprof::agent
