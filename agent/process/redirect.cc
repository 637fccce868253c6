// agent/process/redirect.cc: writes into symbol tables and into slots that relocations name.
//
// A slot is recognised by what it holds: the address of one of the functions. If a slot is not bound yet, it holds
// another address. When the loader binds it, it gets the address of the agent's function from the changed symbol table.
#include "agent/process/redirect.h"

#include "agent/libc/raw.h"
#include "agent/process/called_slots.h"
#include "agent/process/link_map.h"
#include "agent/process/loaded_object.h"

#include <elf.h>
#include <string.h>
#include <sys/uio.h>

namespace heapprof::agent {

namespace {

constexpr uint64_t kPageBytes = 4096;

// Most slots hold none of the addresses that are looked for. A filter on a few address bits avoids comparing a slot
// with each of them.
class AddressFilter {
 public:
  void add(const void* address) { bits_[bit_of(address) / 64] |= 1ull << bit_of(address) % 64; }
  bool may_have(const void* address) const { return (bits_[bit_of(address) / 64] >> bit_of(address) % 64 & 1) != 0; }

 private:
  static uint64_t bit_of(const void* address) { return reinterpret_cast<uint64_t>(address) / 16 % 4096; }
  uint64_t bits_[64] = {};
};

// The relocations that an object's dynamic section names. Nothing is inferred from where tables are, because tools move
// them (patchelf, lld; tests/integration/loader/changed_files.sh).
struct Tables {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const ElfW(Rela) * relocations[2] = {};  // of data, and of calls
  size_t bytes[2] = {};
};

Tables read_relocation_tables(const link_map* object) {
  Tables tables;
  bool has_rela_calls = false;
  size_t relative_count = 0;
  for (const ElfW(Dyn)* entry = object->l_ld; can_read_object(entry, sizeof *entry) && entry->d_tag != DT_NULL;
       ++entry) {
    const void* address = table_address(object, entry->d_un.d_ptr);
    switch (entry->d_tag) {
      case DT_SYMTAB: tables.symbols = static_cast<const ElfW(Sym)*>(address); break;
      case DT_STRTAB: tables.strings = static_cast<const char*>(address); break;
      case DT_RELA: tables.relocations[0] = static_cast<const ElfW(Rela)*>(address); break;
      case DT_RELASZ: tables.bytes[0] = entry->d_un.d_val; break;
      case DT_RELACOUNT: relative_count = entry->d_un.d_val; break;
      case DT_JMPREL: tables.relocations[1] = static_cast<const ElfW(Rela)*>(address); break;
      case DT_PLTRELSZ: tables.bytes[1] = entry->d_un.d_val; break;
      case DT_PLTREL: has_rela_calls = entry->d_un.d_val == DT_RELA; break;
      default: break;
    }
  }
  if (!has_rela_calls) tables.relocations[1] = nullptr;
  // The first relocations (the relative ones) name no symbol.
  if (tables.relocations[0] != nullptr && relative_count <= tables.bytes[0] / sizeof(ElfW(Rela))) {
    tables.relocations[0] += relative_count;
    tables.bytes[0] -= relative_count * sizeof(ElfW(Rela));
  }
  return tables;
}

// Calls take(relocation) for each that names a symbol.
template <typename Take>
void for_each_relocation(const Tables& tables, size_t table, Take take) {
  const ElfW(Rela)* relocation = tables.relocations[table];
  if (tables.symbols == nullptr || tables.strings == nullptr || relocation == nullptr) return;
  for (size_t i = 0; i < tables.bytes[table] / sizeof *relocation; ++i, ++relocation) {
    if (!can_read_object(relocation, sizeof *relocation)) return;
    const uint64_t type = ELF64_R_TYPE(relocation->r_info);
    if (type == kCallSlotRelocation || type == kSlotRelocation || type == kAddressRelocation) take(*relocation);
  }
}

bool names(const Tables& tables, const ElfW(Rela) & relocation, const char* name) {
  const ElfW(Sym)* const symbol = tables.symbols + ELF64_R_SYM(relocation.r_info);
  return can_read_object(symbol, sizeof *symbol) && is_object_text(tables.strings + symbol->st_name, name);
}

// The segments of an object, and the part of them that the loader made read-only after relocating.
class Segments {
 public:
  explicit Segments(const link_map* object) : bias_(object->l_addr), headers_(headers_of_object(object)) {}

  // Flags of the segment that holds the 8 bytes; 0: no segment does.
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

// Writes aligned words of a loaded object. Pages that the Writer unprotects are protected again when it is destroyed or
// moves on to other pages: two system calls each time.
class Writer {
 public:
  explicit Writer(const link_map* object) : segments_(object) {}
  ~Writer() { close(); }
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  // Unprotects the pages between two words of one read-only table. False: they cannot be written.
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
  // False: the word cannot be written.
  bool write(uint64_t address_avma, uint64_t value) {
    if (address_avma % sizeof(uint64_t) != 0 || !is_data(address_avma)) return false;
    if (!is_writable(address_avma) && address_avma - open_avma_ >= open_bytes_) {
      if (segments_.is_relro(address_avma) && stored_unprotected(address_avma, value)) return true;
      if (!open(address_avma, address_avma)) return false;
    }
    __atomic_store_n(reinterpret_cast<uint64_t*>(address_avma), value, __ATOMIC_RELEASE);
    return true;
  }

 private:
  static bool protect(uint64_t start_avma, uint64_t bytes, int protection) {
    return !is_error(raw_syscall(SYS_mprotect, static_cast<long>(start_avma), static_cast<long>(bytes), protection));
  }
  // Another thread may be relocating the object, and will protect the page when it is done. If the agent protected the
  // page first, that thread's next store would fault. The kernel stores only where the page is writable at this moment.
  static bool stored_unprotected(uint64_t address_avma, uint64_t value) {
    iovec from{&value, sizeof value};
    iovec to{reinterpret_cast<void*>(address_avma), sizeof value};
    return raw_syscall(SYS_process_vm_writev, sys_gettid(), reinterpret_cast<long>(&from), 1,
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

bool is_main_program(const link_map* object) { return object == first_object(); }

// Binds a library's calls of its own functions to those functions now. If the loader bound them later, it would
// redirect them to the agent.
void bind_own_calls(const link_map* object, const Tables& tables, const Redirection* list, size_t count) {
  Writer writer(object);
  for_each_relocation(tables, 1, [&](const ElfW(Rela) & relocation) {
    if (ELF64_R_TYPE(relocation.r_info) != kCallSlotRelocation) return;
    for (size_t i = 0; i < count; ++i) {
      if (list[i].real == nullptr || list[i].object != object || !names(tables, relocation, list[i].name)) continue;
      writer.write(object->l_addr + relocation.r_offset, reinterpret_cast<uint64_t>(list[i].real));
    }
  });
}

bool defines_any(const link_map* object, const Redirection* list, size_t count) {
  for (size_t i = 0; i < count; ++i) {
    if (list[i].real != nullptr && list[i].object == object) return true;
  }
  return false;
}

// kOthers and kCalled: slots that hold `real` get `to`. kOthers leaves out functions that the object itself defines;
// kCalled takes only slots that calls go through. kRestored: slots that hold `to` get `real`.
enum class Slots { kOthers, kCalled, kRestored };

AddressFilter filter_of(const Redirection* list, size_t count, Slots which) {
  AddressFilter filter;
  for (size_t i = 0; i < count; ++i) {
    if (list[i].real != nullptr) filter.add(which == Slots::kRestored ? list[i].to : list[i].real);
  }
  return filter;
}

// Calls visit_missed(index) if a slot for list[index] has to be changed but cannot be written.
template <typename VisitMissed>
void redirect_slots(const link_map* object, const Tables& tables, const Redirection* list, size_t count, Slots which,
                    VisitMissed visit_missed) {
  const bool is_restored = which == Slots::kRestored;
  const AddressFilter filter = filter_of(list, count, which);
  // Calls visit(slot_avma, of, type) for each slot that holds the address looked for (`real`; kRestored: `to`) of a
  // function of the list.
  const auto each_slot = [&](auto visit) {
    const auto look_at = [&](const ElfW(Rela) & relocation) {
      const uint64_t slot_avma = object->l_addr + relocation.r_offset;
      void* bound;
      if (!can_read_object(reinterpret_cast<const void*>(slot_avma), sizeof bound)) return;
      memcpy(&bound, reinterpret_cast<const void*>(slot_avma), sizeof bound);
      if (!filter.may_have(bound)) return;
      for (size_t i = 0; i < count; ++i) {
        if (list[i].real == nullptr || (is_restored ? list[i].to : list[i].real) != bound) continue;
        if (which == Slots::kOthers && list[i].object == object) continue;
        if (!names(tables, relocation, list[i].name)) continue;
        return visit(slot_avma, list[i], ELF64_R_TYPE(relocation.r_info));
      }
    };
    for (size_t table = 0; table < 2; ++table) for_each_relocation(tables, table, look_at);
  };
  CalledSlots called;
  if (which == Slots::kCalled) {
    each_slot([&](uint64_t slot_avma, const Redirection&, uint64_t type) {
      if (type == kSlotRelocation) called.add(slot_avma);
    });
    called.read_code(object);
  }
  Writer writer(object);
  each_slot([&](uint64_t slot_avma, const Redirection& of, uint64_t type) {
    if (which == Slots::kCalled && type != kCallSlotRelocation && !called.has(slot_avma)) return;
    const auto value = reinterpret_cast<uint64_t>(is_restored ? of.real : of.to);
    if (!writer.write(slot_avma, value)) visit_missed(static_cast<size_t>(&of - list));
  });
}

void redirect_slots(const link_map* object, const Tables& tables, const Redirection* list, size_t count, Slots which) {
  redirect_slots(object, tables, list, count, which, [](size_t) {});
}

bool is_redirectable(const SoughtSymbol& found) {
  return found.symbol != nullptr && ELF64_ST_TYPE(found.symbol->st_info) == STT_FUNC && !is_main_program(found.object);
}

// Redirects an object's definitions to the agent's functions. The loader adds the object's base to the symbol's value;
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
  bool has_any = false;
  find_symbols_in_process(sought, count);
  for (const link_map* object = first_object(); object != nullptr; object = object->l_next) {
    if (!is_passed_over(object)) redirect_definitions(object, list, sought, count);
  }
  for (size_t i = 0; i < count; ++i) {
    has_any = has_any || list[i].real != nullptr;
    list[i].is_missed = sought[i].symbol != nullptr && list[i].to != nullptr && list[i].real == nullptr;
  }
  if (!has_any) return;
  for (const link_map* object = first_object(); object != nullptr; object = object->l_next) {
    // kRedirect: calls of these functions by the agent itself, which it makes to try the hooks, are redirected as well.
    if (is_passed_over(object) && !(own_calls == OwnCalls::kRedirect && object == agent_object())) continue;
    const Tables tables = read_relocation_tables(object);
    if (own_calls == OwnCalls::kRedirect) {
      redirect_slots(object, tables, list, count, Slots::kCalled, [list](size_t i) { list[i].is_missed = true; });
      continue;
    }
    if (defines_any(object, list, count)) bind_own_calls(object, tables, list, count);
    redirect_slots(object, tables, list, count, Slots::kOthers);
  }
}

namespace {

bool names_mangled(const Tables& tables, const ElfW(Rela) & relocation) {
  const ElfW(Sym)* const symbol = tables.symbols + ELF64_R_SYM(relocation.r_info);
  if (!can_read_object(symbol, sizeof *symbol)) return false;
  const char* const name = tables.strings + symbol->st_name;
  return can_read_object(name, 2) && name[0] == '_' && name[1] == 'Z';
}

// Whether any object that the program starts with refers to one of the names.
bool are_named(const SoughtSymbol* sought, size_t count) {
  bool is_any = false;
  for (const link_map* object = first_object(); object != nullptr && !is_any; object = object->l_next) {
    if (is_passed_over(object)) continue;
    const Tables tables = read_relocation_tables(object);
    for (size_t table = 0; table < 2; ++table) {
      for_each_relocation(tables, table, [&](const ElfW(Rela) & relocation) {
        if (!names_mangled(tables, relocation)) return;
        for (size_t i = 0; i < count && !is_any; ++i) is_any = names(tables, relocation, sought[i].name);
      });
    }
  }
  return is_any;
}

}  // namespace

// The loader does not take a symbol whose value is 0 as a definition. If an object refers to any of these symbols, all
// of them stay. If only the others were withdrawn, a weak reference to one function might be bound already, while a
// later call of another function would be bound to nothing.
void withdraw_exports(SoughtSymbol* sought, size_t count) {
  const link_map* const agent = agent_object();
  if (agent == nullptr || count == 0 || are_named(sought, count)) return;
  find_symbols_in_object(agent, sought, count);
  uint64_t first_avma = UINT64_MAX;
  uint64_t last_avma = 0;
  for (size_t i = 0; i < count; ++i) {
    if (sought[i].symbol == nullptr) continue;
    if (word_of(sought[i]) < first_avma) first_avma = word_of(sought[i]);
    if (word_of(sought[i]) > last_avma) last_avma = word_of(sought[i]);
  }
  Writer writer(agent);
  if (last_avma == 0 || !writer.open(first_avma, last_avma)) return;
  for (size_t i = 0; i < count; ++i) {
    if (sought[i].symbol != nullptr) writer.write(word_of(sought[i]), 0);
  }
}

bool redirect_own_calls(const link_map* object, const Redirection* list, size_t count) {
  const Tables tables = read_relocation_tables(object);
  bool is_any = false;
  {
    Writer writer(object);
    for_each_relocation(tables, 1, [&](const ElfW(Rela) & relocation) {
      if (ELF64_R_TYPE(relocation.r_info) != kCallSlotRelocation) return;
      for (size_t i = 0; i < count; ++i) {
        if (!names(tables, relocation, list[i].name)) continue;
        is_any = writer.write(object->l_addr + relocation.r_offset, reinterpret_cast<uint64_t>(list[i].to)) || is_any;
      }
    });
  }
  for_each_relocation(tables, 0, [&](const ElfW(Rela) & relocation) {
    if (ELF64_R_TYPE(relocation.r_info) != kSlotRelocation) return;
    for (size_t i = 0; i < count; ++i) is_any = is_any || names(tables, relocation, list[i].name);
  });
  if (is_any) redirect_slots(object, tables, list, count, Slots::kCalled);
  return is_any;
}

void redirect_bound(const Redirection* list, size_t count) {
  for (const link_map* object = first_object(); object != nullptr; object = object->l_next) {
    if (!is_passed_over(object)) redirect_slots(object, read_relocation_tables(object), list, count, Slots::kCalled);
  }
}

void restore_functions(const Redirection* list, const SoughtSymbol* sought, size_t count) {
  for (const link_map* object = first_object(); object != nullptr; object = object->l_next) {
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
