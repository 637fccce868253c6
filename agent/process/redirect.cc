// agent/process/redirect.cc: writes into symbol tables and into slots that relocations name.
//
// A slot is known by what it holds: the address of one of the functions. One that is not bound yet holds another
// address, and is led to us by the symbol table when it is bound.
#include "agent/process/redirect.h"

#include "agent/libc/raw.h"
#include "agent/process/link_map.h"
#include "agent/process/loaded_object.h"

#include <elf.h>
#include <string.h>
#include <sys/uio.h>

namespace heapprof::agent {

namespace {

constexpr uint64_t kPageBytes = 4096;

// Which names an object imports is asked for thousands of names: a filter by the first two letters spares comparing
// most of them.
class NameFilter {
 public:
  void add(const char* name) { bits_[bit_of(name) / 64] |= 1ull << bit_of(name) % 64; }
  bool may_have(const char* name) const { return (bits_[bit_of(name) / 64] >> bit_of(name) % 64 & 1) != 0; }

 private:
  static uint32_t bit_of(const char* name) {
    if (name[0] == 0) return 0;
    return (static_cast<unsigned char>(name[0]) * 31u + static_cast<unsigned char>(name[1])) % 256;
  }
  uint64_t bits_[4] = {};
};

struct Tables {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const uint32_t* gnu_hash = nullptr;
  const uint32_t* sysv_hash = nullptr;
  const ElfW(Rela) * relocations[2] = {};  // of data, and of calls
  size_t bytes[2] = {};
};

Tables read_relocation_tables(const link_map* object) {
  Tables tables;
  bool has_rela_calls = false;
  for (const ElfW(Dyn)* entry = object->l_ld; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    // glibc adds the base to the addresses of an object's dynamic section, except where it is read-only.
    const ElfW(Addr) value = entry->d_un.d_ptr;
    const void* address = reinterpret_cast<const void*>(value < object->l_addr ? object->l_addr + value : value);
    switch (entry->d_tag) {
      case DT_SYMTAB: tables.symbols = static_cast<const ElfW(Sym)*>(address); break;
      case DT_STRTAB: tables.strings = static_cast<const char*>(address); break;
      case DT_GNU_HASH: tables.gnu_hash = static_cast<const uint32_t*>(address); break;
      case DT_HASH: tables.sysv_hash = static_cast<const uint32_t*>(address); break;
      case DT_RELA: tables.relocations[0] = static_cast<const ElfW(Rela)*>(address); break;
      case DT_RELASZ: tables.bytes[0] = entry->d_un.d_val; break;
      case DT_JMPREL: tables.relocations[1] = static_cast<const ElfW(Rela)*>(address); break;
      case DT_PLTRELSZ: tables.bytes[1] = entry->d_un.d_val; break;
      case DT_PLTREL: has_rela_calls = entry->d_un.d_val == DT_RELA; break;
      default: break;
    }
  }
  if (!has_rela_calls) tables.relocations[1] = nullptr;
  return tables;
}

// Imported symbols of a library stand before the first one in the hash table; an object with the old table alone tells
// how many symbols there are in all. A program has some behind that, too, and one that exports nothing has them all
// there: its names stand right behind its symbols.
uint32_t imported_count(const Tables& tables, bool is_program) {
  const auto start = reinterpret_cast<uint64_t>(tables.symbols);
  const auto end = reinterpret_cast<uint64_t>(tables.strings);
  if (is_program && end > start && (end - start) % sizeof(ElfW(Sym)) == 0)
    return static_cast<uint32_t>((end - start) / sizeof(ElfW(Sym)));
  if (tables.gnu_hash != nullptr) return tables.gnu_hash[1];
  return tables.sysv_hash != nullptr ? tables.sysv_hash[1] : 0;
}

bool imports_any(const Tables& tables, bool is_program, const NameFilter& filter, const Redirection* list,
                 size_t count) {
  if (tables.symbols == nullptr || tables.strings == nullptr) return false;
  for (uint32_t index = 1; index < imported_count(tables, is_program); ++index) {
    const ElfW(Sym)& symbol = tables.symbols[index];
    const char* name = tables.strings + symbol.st_name;
    if (symbol.st_shndx != SHN_UNDEF || !filter.may_have(name)) continue;
    for (size_t i = 0; i < count; ++i) {
      if (list[i].real != nullptr && strcmp(list[i].name, name) == 0) return true;
    }
  }
  return false;
}

// The segments of an object, and what of them the loader made read-only after relocating.
class Segments {
 public:
  explicit Segments(const link_map* object) : bias_(object->l_addr), headers_(headers_of_object(object)) {}

  // Flags of the segment that holds the 8 bytes; 0: none does.
  uint32_t flags_at(uint64_t address_avma) const {
    for (uint32_t i = 0; i < headers_.count; ++i) {
      const ElfW(Phdr)& part = headers_.first[i];
      const uint64_t offset = address_avma - (bias_ + part.p_vaddr);
      if (part.p_type == PT_LOAD && offset < part.p_memsz && part.p_memsz - offset >= sizeof(uint64_t))
        return part.p_flags;
    }
    return 0;
  }
  bool is_relro(uint64_t address_avma) const {
    for (uint32_t i = 0; i < headers_.count; ++i) {
      const ElfW(Phdr)& part = headers_.first[i];
      if (part.p_type != PT_GNU_RELRO) continue;
      const uint64_t start_avma = (bias_ + part.p_vaddr) & ~(kPageBytes - 1);
      const uint64_t end_avma = (bias_ + part.p_vaddr + part.p_memsz) & ~(kPageBytes - 1);
      if (address_avma >= start_avma && address_avma < end_avma) return true;
    }
    return false;
  }

 private:
  uint64_t bias_;
  ProgramHeaders headers_;
};

// Writes aligned words of a loaded object. Pages that it has to unprotect are protected again at its end, or when it
// goes on elsewhere: each is two system calls.
class Writer {
 public:
  explicit Writer(const link_map* object) : segments_(object) {}
  ~Writer() { close(); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Unprotects what lies between two words of one read-only table. False: it cannot be written.
  bool open(uint64_t first_avma, uint64_t last_avma) {
    close();
    if (!is_data(first_avma) || !is_data(last_avma)) return false;
    if (is_writable(first_avma)) return true;
    const uint64_t start_avma = first_avma & ~(kPageBytes - 1);
    const uint64_t bytes = (last_avma & ~(kPageBytes - 1)) + kPageBytes - start_avma;
    if (!protect(start_avma, bytes, PROT_READ | PROT_WRITE)) return false;
    open_avma_ = start_avma;
    open_bytes_ = bytes;
    return true;
  }
  // False: it cannot be written.
  bool write(uint64_t address_avma, uint64_t value) {
    if (address_avma % sizeof(uint64_t) != 0 || !is_data(address_avma)) return false;
    if (!is_writable(address_avma) && address_avma - open_avma_ >= open_bytes_) {
      if (segments_.is_relro(address_avma) && stored_unprotected(address_avma, value)) return true;
      if (!open(address_avma, address_avma)) return false;
    }
    __atomic_store_n(reinterpret_cast<uint64_t*>(address_avma), value, __ATOMIC_RELEASE);
    return true;
  }
  bool can_read(uint64_t address_avma) const { return (segments_.flags_at(address_avma) & PF_R) != 0; }

 private:
  static bool protect(uint64_t start_avma, uint64_t bytes, int protection) {
    return !is_error(raw_syscall(SYS_mprotect, static_cast<long>(start_avma), static_cast<long>(bytes), protection));
  }
  // Another thread may be relocating the object, and protects the page itself when it is done: protected by us, its
  // next store would fault. The kernel stores only where the page is writable at this moment.
  static bool stored_unprotected(uint64_t address_avma, uint64_t value) {
    iovec from{&value, sizeof value};
    iovec to{reinterpret_cast<void*>(address_avma), sizeof value};
    return raw_syscall(SYS_process_vm_writev, sys_getpid(), reinterpret_cast<long>(&from), 1,
                       reinterpret_cast<long>(&to), 1, 0) == static_cast<long>(sizeof value);
  }
  bool is_data(uint64_t address_avma) const { return (segments_.flags_at(address_avma) & (PF_R | PF_X)) == PF_R; }
  bool is_writable(uint64_t address_avma) const {
    return (segments_.flags_at(address_avma) & PF_W) != 0 && !segments_.is_relro(address_avma);
  }
  void close() {
    if (open_bytes_ != 0) protect(open_avma_, open_bytes_, PROT_READ);
    open_bytes_ = 0;
  }

  Segments segments_;
  uint64_t open_avma_ = 0;
  uint64_t open_bytes_ = 0;
};

uint64_t word_of(const SoughtSymbol& found) { return reinterpret_cast<uint64_t>(&found.symbol->st_value); }

bool is_main_program(const link_map* object) { return object == _r_debug.r_map; }

const char* name_of(const Tables& tables, const ElfW(Rela) & relocation) {
  return tables.strings + tables.symbols[ELF64_R_SYM(relocation.r_info)].st_name;
}

// Binds the calls of a library of its own functions now, to those: bound later, they would be led to us.
void bind_own_calls(const link_map* object, const Tables& tables, const Redirection* list, size_t count) {
  if (tables.symbols == nullptr || tables.strings == nullptr || tables.relocations[1] == nullptr) return;
  Writer writer(object);
  const ElfW(Rela)* end = tables.relocations[1] + tables.bytes[1] / sizeof(ElfW(Rela));
  for (const ElfW(Rela)* relocation = tables.relocations[1]; relocation != end; ++relocation) {
    if (ELF64_R_TYPE(relocation->r_info) != R_X86_64_JUMP_SLOT) continue;
    for (size_t i = 0; i < count; ++i) {
      if (list[i].real == nullptr || list[i].object != object) continue;
      if (strcmp(name_of(tables, *relocation), list[i].name) != 0) continue;
      writer.write(object->l_addr + relocation->r_offset, reinterpret_cast<uint64_t>(list[i].real));
    }
  }
}

bool defines_any(const link_map* object, const Redirection* list, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (list[i].real != nullptr && list[i].object == object) return true;
  }
  return false;
}

// Slots that hold `real` get `to`; kRestored: the other way round. kOthers: only where another object has the function.
enum class Slots { kOthers, kAll, kRestored };
void redirect_slots(const link_map* object, const Tables& tables, const Redirection* list, size_t count, Slots which) {
  if (tables.symbols == nullptr || tables.strings == nullptr) return;
  const bool is_restored = which == Slots::kRestored;
  Writer writer(object);
  for (size_t table = 0; table < 2; ++table) {
    const ElfW(Rela)* relocation = tables.relocations[table];
    const ElfW(Rela)* end = relocation == nullptr ? nullptr : relocation + tables.bytes[table] / sizeof *relocation;
    for (; relocation != end; ++relocation) {
      const uint64_t type = ELF64_R_TYPE(relocation->r_info);
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT && type != R_X86_64_64) continue;
      const uint64_t slot_avma = object->l_addr + relocation->r_offset;
      if (!writer.can_read(slot_avma)) continue;
      void* bound;
      memcpy(&bound, reinterpret_cast<const void*>(slot_avma), sizeof bound);
      for (size_t i = 0; i < count && bound != nullptr; ++i) {
        if (list[i].real == nullptr || (is_restored ? list[i].to : list[i].real) != bound) continue;
        if (which == Slots::kOthers && list[i].object == object) continue;
        if (strcmp(name_of(tables, *relocation), list[i].name) != 0) continue;
        writer.write(slot_avma, reinterpret_cast<uint64_t>(is_restored ? list[i].real : list[i].to));
        break;
      }
    }
  }
}

bool is_redirectable(const SoughtSymbol& found) {
  return found.symbol != nullptr && ELF64_ST_TYPE(found.symbol->st_info) == STT_FUNC && !is_main_program(found.object);
}

// Leads the definitions that an object has to ours. The loader adds the object's base to what stands in the symbol;
// sums of addresses wrap around.
void redirect_definitions(const link_map* object, Redirection* list, const SoughtSymbol* sought, size_t count) {
  uint64_t first_avma = UINT64_MAX;
  uint64_t last_avma = 0;
  for (size_t i = 0; i < count; ++i) {
    if (sought[i].object != object || !is_redirectable(sought[i])) continue;
    if (word_of(sought[i]) < first_avma) first_avma = word_of(sought[i]);
    if (word_of(sought[i]) > last_avma) last_avma = word_of(sought[i]);
  }
  Writer writer(object);
  if (last_avma == 0 || !writer.open(first_avma, last_avma)) return;
  for (size_t i = 0; i < count; ++i) {
    if (sought[i].object != object || !is_redirectable(sought[i]) || list[i].to == nullptr) continue;
    void* real = reinterpret_cast<void*>(object->l_addr + sought[i].symbol->st_value);
    if (!writer.write(word_of(sought[i]), reinterpret_cast<uint64_t>(list[i].to) - object->l_addr)) continue;
    list[i].real = real;
    list[i].object = object;
  }
}

}  // namespace

void redirect_functions(Redirection* list, SoughtSymbol* sought, size_t count, OwnCalls own_calls) {
  NameFilter filter;
  bool has_any = false;
  find_symbols_in_process(sought, count);
  for (const link_map* object = _r_debug.r_map; object != nullptr; object = object->l_next) {
    if (!is_passed_over(object)) redirect_definitions(object, list, sought, count);
  }
  for (size_t i = 0; i < count; ++i) {
    if (list[i].real == nullptr) continue;
    filter.add(list[i].name);
    has_any = true;
  }
  if (!has_any) return;
  for (const link_map* object = _r_debug.r_map; object != nullptr; object = object->l_next) {
    // What the agent calls by these names itself, to try the hooks, is led to them as well.
    if (is_passed_over(object) && !(own_calls == OwnCalls::kLead && object == agent_object())) continue;
    const Tables tables = read_relocation_tables(object);
    if (own_calls == OwnCalls::kLead) {
      redirect_slots(object, tables, list, count, Slots::kAll);
      continue;
    }
    if (defines_any(object, list, count)) bind_own_calls(object, tables, list, count);
    if (imports_any(tables, object == _r_debug.r_map, filter, list, count))
      redirect_slots(object, tables, list, count, Slots::kOthers);
  }
}

void redirect_bound(const Redirection* list, size_t count) {
  for (const link_map* object = _r_debug.r_map; object != nullptr; object = object->l_next) {
    if (!is_passed_over(object)) redirect_slots(object, read_relocation_tables(object), list, count, Slots::kAll);
  }
}

void restore_functions(const Redirection* list, const SoughtSymbol* sought, size_t count) {
  for (const link_map* object = _r_debug.r_map; object != nullptr; object = object->l_next) {
    if (is_passed_over(object)) continue;
    {
      Writer writer(object);
      for (size_t i = 0; i < count; ++i) {
        if (list[i].real != nullptr && list[i].object == object)
          writer.write(word_of(sought[i]), reinterpret_cast<uint64_t>(list[i].real) - object->l_addr);
      }
    }
    redirect_slots(object, read_relocation_tables(object), list, count, Slots::kRestored);
  }
}

}  // namespace heapprof::agent
