// agent/process/loaded_object.cc: asks the loader which object holds an address, in one of two ways.
//
// _dl_find_object (glibc 2.35) answers without a lock, from a table that the loader keeps for exactly this use. It is
// looked up at run time, because a reference would keep the agent from loading on older systems. On those, the agent
// walks the loader's list of objects, without a lock: it is the debugger's interface, stable for decades. Only if
// another thread is unloading an object at the same instant could the list mislead the agent, and it is walked only
// once for each new program counter.
#include "agent/process/loaded_object.h"

#include "agent/libc/vector_state.h"
#include "agent/process/early.h"
#include "agent/process/link_map.h"
#include "agent/process/own_memory.h"

#include <elf.h>
#include <link.h>
#include <string.h>

namespace heapprof::agent {

bool g_use_link_map_only = false;
uint64_t g_loader_start_avma = 0;
uint64_t g_loader_bytes = 0;

namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr uint32_t kMaxObjects = 65536;  // ends a walk over a list that changes during the walk

// struct dl_find_object of <dlfcn.h> in glibc 2.35 and later: part of its ABI, repeated so that older headers suffice.
struct FoundObject {
  unsigned long long flags;
  void* map_start;
  void* map_end;
  link_map* map;
  void* eh_frame_hdr;
  unsigned long long reserved[7];
};
using FindObjectFunction = int (*)(void*, FoundObject*);
FindObjectFunction g_find_object = nullptr;

bool is_elf_header(const ElfW(Ehdr) * header) {
  return memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64 &&
         header->e_phentsize == sizeof(ElfW(Phdr));
}

bool is_main_program(const link_map* map) { return map == first_object(); }

ProgramHeaders headers_of(const link_map* map) {
  if (is_main_program(map)) return headers_of_program();
  if (map->l_addr == 0) return {};  // a prelinked object: the list does not say where its header is
  return headers_at(map->l_addr);
}

// The build id is a note of type 3 whose owner is "GNU".
void read_build_id(uint64_t notes_avma, uint64_t size_bytes, uint64_t alignment, LoadedObject* object) {
  const uint64_t mask = alignment == 8 ? 7 : 3;
  uint64_t at_avma = notes_avma;
  const uint64_t end_avma = notes_avma + size_bytes;
  while (end_avma - at_avma >= sizeof(ElfW(Nhdr))) {
    const auto* note = reinterpret_cast<const ElfW(Nhdr)*>(at_avma);
    const uint64_t name_avma = at_avma + sizeof *note;
    const uint64_t content_avma = name_avma + ((note->n_namesz + mask) & ~mask);
    const uint64_t next_avma = content_avma + ((note->n_descsz + mask) & ~mask);
    if (content_avma + note->n_descsz > end_avma) return;
    if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
        memcmp(reinterpret_cast<const char*>(name_avma), ELF_NOTE_GNU, 4) == 0) {
      object->build_id = reinterpret_cast<const uint8_t*>(content_avma);
      object->build_id_bytes = note->n_descsz;
      return;
    }
    if (next_avma > end_avma) return;
    at_avma = next_avma;
  }
}

// True if the part of a file that is mapped there can be read. If a file was cut short, there are no pages after its
// end. So the first page and the last one show whether those between can be read.
bool is_readable(uint64_t start_avma, uint64_t bytes) {
  return bytes != 0 && start_avma + bytes > start_avma && can_read_page(start_avma) &&
         can_read_page(start_avma + bytes - 1);
}

bool is_loaded(const ProgramHeaders& headers, const ElfW(Phdr) & part) {
  for (uint32_t i = 0; i < headers.count; ++i) {
    const ElfW(Phdr)& segment = headers.first[i];
    if (segment.p_type == PT_LOAD && (segment.p_flags & PF_R) != 0 && part.p_vaddr >= segment.p_vaddr &&
        part.p_vaddr - segment.p_vaddr + part.p_memsz <= segment.p_memsz) {
      return true;
    }
  }
  return false;
}

// Fills in what the program headers say: the unwind table, the segment that holds it, the build id, the entry point.
void read_headers(const ProgramHeaders& headers, LoadedObject* object) {
  ModuleInfo& info = object->info;
  for (uint32_t i = 0; i < headers.count; ++i) {
    const ElfW(Phdr)& part = headers.first[i];
    if (part.p_type == PT_GNU_EH_FRAME && info.eh_frame_hdr == nullptr && is_loaded(headers, part)) {
      info.eh_frame_hdr = reinterpret_cast<const uint8_t*>(object->bias + part.p_vaddr);
    }
    if (part.p_type == PT_NOTE && object->build_id_bytes == 0 && is_loaded(headers, part) &&
        is_readable(object->bias + part.p_vaddr, part.p_memsz)) {
      read_build_id(object->bias + part.p_vaddr, part.p_memsz, part.p_align, object);
    }
  }
  const uint64_t table_avma = reinterpret_cast<uint64_t>(info.eh_frame_hdr);
  for (uint32_t i = 0; i < headers.count; ++i) {
    const ElfW(Phdr)& segment = headers.first[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_R) == 0) continue;
    const uint64_t start_avma = object->bias + segment.p_vaddr;
    if (table_avma - start_avma >= segment.p_filesz || !is_readable(start_avma, segment.p_filesz)) continue;
    info.table_start_avma = start_avma;
    info.table_end_avma = start_avma + segment.p_filesz;
  }
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(info.start_avma);
  if (headers.count != 0 && info.start_avma == (reinterpret_cast<uint64_t>(headers.first) & ~(kPageBytes - 1)) &&
      is_elf_header(header) && header->e_entry != 0) {
    info.entry_avma = object->bias + header->e_entry;
  }
}

void name_object(const link_map* map, LoadedObject* object) {
  object->bias = map->l_addr;
  object->path = map->l_name == nullptr ? "" : map->l_name;
  if (strncmp(object->path, "linux-vdso", 10) == 0) object->path = "[vdso]";
}

// Without headers, the end of the segment that holds the table is unknown. So the table's memory is taken to extend as
// far as pages can be read, within the object.
void bound_table_by_pages(ModuleInfo* info) {
  const uint64_t table_avma = reinterpret_cast<uint64_t>(info->eh_frame_hdr) & ~(kPageBytes - 1);
  if (table_avma < info->start_avma || table_avma >= info->end_avma || !can_read_page(table_avma)) return;
  info->table_start_avma = info->table_end_avma = table_avma;
  while (info->table_start_avma > info->start_avma && can_read_page(info->table_start_avma - 1))
    info->table_start_avma -= kPageBytes;
  while (info->table_end_avma < info->end_avma && can_read_page(info->table_end_avma))
    info->table_end_avma += kPageBytes;
}

bool find_in_loader_table(uint64_t pc_avma, LoadedObject* object) {
  FoundObject found;
  if (call_kept(g_find_object, reinterpret_cast<void*>(pc_avma), &found) != 0) return false;
  object->info.start_avma = reinterpret_cast<uint64_t>(found.map_start);
  object->info.end_avma = reinterpret_cast<uint64_t>(found.map_end);
  object->info.eh_frame_hdr = static_cast<const uint8_t*>(found.eh_frame_hdr);
  name_object(found.map, object);
  const ProgramHeaders headers =
      is_main_program(found.map) ? headers_of_program() : headers_at(object->info.start_avma);
  read_headers(headers, object);
  if (headers.count == 0) bound_table_by_pages(&object->info);
  return true;
}

bool find_in_list(uint64_t pc_avma, LoadedObject* object) {
  uint32_t steps = 0;
  for (const link_map* map = first_object(); map != nullptr && steps < kMaxObjects; map = map->l_next, ++steps) {
    const ProgramHeaders headers = headers_of(map);
    uint64_t start_avma = ~uint64_t{0};
    uint64_t end_avma = 0;
    bool holds = false;
    for (uint32_t i = 0; i < headers.count; ++i) {
      const ElfW(Phdr)& segment = headers.first[i];
      if (segment.p_type != PT_LOAD) continue;
      const uint64_t low_avma = map->l_addr + segment.p_vaddr;
      const uint64_t high_avma = low_avma + segment.p_memsz;
      holds |= pc_avma >= low_avma && pc_avma < high_avma;
      if (low_avma < start_avma) start_avma = low_avma & ~(kPageBytes - 1);
      if (high_avma > end_avma) end_avma = high_avma;
    }
    if (!holds) continue;
    object->info.start_avma = start_avma;
    object->info.end_avma = end_avma;
    name_object(map, object);
    read_headers(headers, object);
    return true;
  }
  return false;
}

}  // namespace

// Headers may be anywhere in the file. They are used only if they say that they are mapped together with the file's
// beginning.
ProgramHeaders headers_at(uint64_t start_avma) {
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(start_avma);
  if (start_avma % kPageBytes != 0 || !can_read_page(start_avma) || !is_elf_header(header)) return {};
  const ProgramHeaders headers{reinterpret_cast<const ElfW(Phdr)*>(start_avma + header->e_phoff), header->e_phnum};
  const uint64_t bytes = uint64_t{headers.count} * sizeof(ElfW(Phdr));
  uint64_t end_off;
  if (__builtin_add_overflow(header->e_phoff, bytes, &end_off)) return {};
  for (uint64_t off = kPageBytes; off < end_off; off += kPageBytes) {
    if (!can_read_page(start_avma + off)) return {};
  }
  if (end_off <= kPageBytes) return headers;
  for (uint32_t i = 0; i < headers.count; ++i) {
    const ElfW(Phdr)& part = headers.first[i];
    if (part.p_type == PT_LOAD && part.p_offset == 0 && part.p_filesz >= end_off) return headers;
  }
  return {};
}

ProgramHeaders headers_of_object(const link_map* map) {
  if (is_main_program(map)) return headers_of_program();
  FoundObject found;
  if (g_find_object != nullptr && call_kept(g_find_object, static_cast<void*>(map->l_ld), &found) == 0)
    return headers_at(reinterpret_cast<uint64_t>(found.map_start));
  return headers_of(map);
}

void init_find_object() {
  g_find_object = reinterpret_cast<FindObjectFunction>(find_in_glibc("_dl_find_object").address);
  const auto loader_avma = static_cast<uint64_t>(loader_state()->r_ldbase);
  const ProgramHeaders headers = loader_avma != 0 ? headers_at(loader_avma) : ProgramHeaders{};
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < headers.count; ++i) {
    const ElfW(Phdr)& part = headers.first[i];
    if (part.p_type == PT_LOAD && part.p_vaddr + part.p_memsz > bytes) bytes = part.p_vaddr + part.p_memsz;
  }
  g_loader_start_avma = loader_avma;
  g_loader_bytes = bytes;
}

bool can_tell_loaded() { return g_find_object != nullptr && !g_use_link_map_only; }

bool is_surely_loaded(const void* address) {
  FoundObject found;
  return g_find_object != nullptr && call_kept(g_find_object, const_cast<void*>(address), &found) == 0;
}

void forget_unloaded(void** address) {
  const void* known = __atomic_load_n(address, __ATOMIC_ACQUIRE);
  if (known != nullptr && !is_surely_loaded(known)) __atomic_store_n(address, nullptr, __ATOMIC_RELEASE);
}

bool find_object(uint64_t pc_avma, LoadedObject* object) {
  *object = {};
  object->path = "";
  if (can_tell_loaded()) return find_in_loader_table(pc_avma, object);
  return find_in_list(pc_avma, object);
}

}  // namespace heapprof::agent
