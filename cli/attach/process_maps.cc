// cli/attach/process_maps.cc: /proc/PID/maps, and ELF tables in the memory of another process.
//
// glibc replaces the offsets of most entries of a dynamic section by addresses, unless the section is read-only. So if
// a value is below the object's base, it is still an offset.
#include "cli/attach/process_maps.h"

#include "cli/base/file_name.h"

#include <elf.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace heapprof::cli {

namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kMostCodeBytes = 64u << 20;
constexpr uint32_t kMostSymbols = 1u << 22;  // also in one chain of a hash table

template <typename T>
bool read_value(pid_t pid, uint64_t from_avma, T* to) {
  return read_memory(pid, from_avma, to, sizeof *to);
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
    const uint32_t high = hash & 0xf0000000u;
    hash = (hash ^ high >> 24) & ~high;
  }
  return hash;
}

}  // namespace

bool read_memory(pid_t pid, uint64_t from_avma, void* to, size_t bytes) {
  iovec local{to, bytes};
  iovec remote{reinterpret_cast<void*>(from_avma), bytes};
  return process_vm_readv(pid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

bool write_memory(pid_t pid, uint64_t to_avma, const void* from, size_t bytes) {
  iovec local{const_cast<void*>(from), bytes};
  iovec remote{reinterpret_cast<void*>(to_avma), bytes};
  return process_vm_writev(pid, &local, 1, &remote, 1, 0) == static_cast<ssize_t>(bytes);
}

std::vector<Mapping> read_mappings(pid_t pid) {
  std::vector<Mapping> mappings;
  std::ifstream file("/proc/" + std::to_string(pid) + "/maps");
  for (std::string line; std::getline(file, line);) {
    Mapping mapping;
    char permissions[5] = {};
    int path_at = 0;
    unsigned long start = 0;
    unsigned long end = 0;
    unsigned long offset = 0;
    if (std::sscanf(line.c_str(), "%lx-%lx %4s %lx %*s %*s %n", &start, &end, permissions, &offset, &path_at) < 4)
      continue;
    mapping.start_avma = start;
    mapping.end_avma = end;
    mapping.offset = offset;
    mapping.is_readable = permissions[0] == 'r';
    mapping.is_writable = permissions[1] == 'w';
    mapping.is_code = permissions[2] == 'x';
    if (path_at > 0 && static_cast<size_t>(path_at) < line.size())
      mapping.path = line.substr(static_cast<size_t>(path_at));
    mappings.push_back(std::move(mapping));
  }
  return mappings;
}

const Mapping* mapping_at(const std::vector<Mapping>& mappings, uint64_t address_avma) {
  for (const Mapping& mapping : mappings) {
    if (address_avma >= mapping.start_avma && address_avma < mapping.end_avma) return &mapping;
  }
  return nullptr;
}

std::optional<RemoteObject> RemoteObject::read(pid_t pid, const Mapping& first) {
  Elf64_Ehdr header;
  if (!read_value(pid, first.start_avma, &header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_machine != EM_X86_64 || header.e_phnum == 0 ||
      header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phoff > first.end_avma - first.start_avma)
    return std::nullopt;
  std::vector<Elf64_Phdr> parts(header.e_phnum);
  if (!read_memory(pid, first.start_avma + header.e_phoff, parts.data(), parts.size() * sizeof(Elf64_Phdr)))
    return std::nullopt;
  const auto loaded = std::find_if(parts.begin(), parts.end(), [](const auto& part) { return part.p_type == PT_LOAD; });
  if (loaded == parts.end()) return std::nullopt;
  RemoteObject object;
  object.pid_ = pid;
  object.path_ = first.path;
  object.start_avma_ = first.start_avma;
  object.bias_ = first.start_avma - (loaded->p_vaddr & ~(kPageBytes - 1));
  for (const Elf64_Phdr& part : parts) {
    if (part.p_type != PT_LOAD) continue;
    const uint64_t start_avma = object.bias_ + part.p_vaddr;
    object.segments_.push_back(
        {start_avma, start_avma + part.p_memsz, part.p_offset, (part.p_flags & PF_X) != 0, (part.p_flags & PF_W) != 0});
    object.end_avma_ = std::max(object.end_avma_, start_avma + part.p_memsz);
  }
  for (const Elf64_Phdr& part : parts) {
    if (part.p_type == PT_DYNAMIC && !object.read_dynamic(object.bias_ + part.p_vaddr, part.p_memsz))
      return std::nullopt;
  }
  return object;
}

// The process may have moved its code to larger pages, which belong to no file. Then the file's offset is not compared.
bool RemoteObject::is_loaded(const std::vector<Mapping>& mappings) const {
  bool has_code = false;
  for (const Segment& segment : segments_) {
    if (segment.start_avma == segment.end_avma) continue;
    const Mapping* const there = mapping_at(mappings, segment.start_avma);
    if (there == nullptr || (segment.is_code && !there->is_code)) return false;
    if (there->path == path_ && segment.start_avma - there->start_avma + there->offset != segment.file_off)
      return false;
    has_code = has_code || segment.is_code;
  }
  return has_code;
}

bool RemoteObject::read_dynamic(uint64_t dynamic_avma, uint64_t bytes) {
  constexpr uint64_t kMostBytes = 65536;
  std::vector<Elf64_Dyn> entries(std::min(bytes, kMostBytes) / sizeof(Elf64_Dyn));
  if (!read_memory(pid_, dynamic_avma, entries.data(), entries.size() * sizeof(Elf64_Dyn))) return false;
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag == DT_NULL) break;
    const uint64_t avma = entry.d_un.d_ptr < bias_ ? bias_ + entry.d_un.d_ptr : entry.d_un.d_ptr;
    if (entry.d_tag == DT_SYMTAB) symbols_avma_ = avma;
    if (entry.d_tag == DT_STRTAB) strings_avma_ = avma;
    if (entry.d_tag == DT_GNU_HASH) gnu_hash_avma_ = avma;
    if (entry.d_tag == DT_HASH) sysv_hash_avma_ = avma;
  }
  return true;
}

std::optional<RemoteSymbol> RemoteObject::symbol_at(uint32_t index, const char* name) const {
  Elf64_Sym symbol;
  std::string text(std::strlen(name) + 1, ' ');
  if (!read_value(pid_, symbols_avma_ + uint64_t{index} * sizeof symbol, &symbol) || symbol.st_shndx == SHN_UNDEF ||
      !read_memory(pid_, strings_avma_ + symbol.st_name, text.data(), text.size()) || text.back() != 0 ||
      text.compare(0, text.size() - 1, name) != 0)
    return std::nullopt;
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  if (type == STT_TLS || type == STT_GNU_IFUNC) return std::nullopt;
  return RemoteSymbol{bias_ + symbol.st_value, symbol.st_size};
}

std::optional<RemoteSymbol> RemoteObject::find(const char* name) const {
  if (symbols_avma_ == 0 || strings_avma_ == 0) return std::nullopt;
  if (gnu_hash_avma_ != 0) {
    struct {
      uint32_t buckets, first_symbol, filter_words, filter_shift;
    } table;
    uint32_t index = 0;
    if (!read_value(pid_, gnu_hash_avma_, &table) || table.buckets == 0) return std::nullopt;
    const uint64_t buckets_avma = gnu_hash_avma_ + sizeof table + uint64_t{table.filter_words} * 8;
    const uint64_t chains_avma = buckets_avma + uint64_t{table.buckets} * 4;
    const uint32_t wanted = gnu_hash_of(name);
    if (!read_value(pid_, buckets_avma + uint64_t{wanted % table.buckets} * 4, &index)) return std::nullopt;
    for (uint32_t hash = 0, seen = 0; index >= table.first_symbol && index != 0 && seen < kMostSymbols;
         ++index, ++seen) {
      if (!read_value(pid_, chains_avma + uint64_t{index - table.first_symbol} * 4, &hash)) break;
      if ((hash | 1) == (wanted | 1)) {
        if (const std::optional<RemoteSymbol> symbol = symbol_at(index, name)) return symbol;
      }
      if ((hash & 1) != 0) break;
    }
    return std::nullopt;
  }
  uint32_t counts[2];  // number of buckets, and of symbols
  uint32_t index = 0;
  if (sysv_hash_avma_ == 0 || !read_value(pid_, sysv_hash_avma_, &counts) || counts[0] == 0) return std::nullopt;
  const uint64_t buckets_avma = sysv_hash_avma_ + sizeof counts;
  const uint64_t chains_avma = buckets_avma + uint64_t{counts[0]} * 4;
  if (!read_value(pid_, buckets_avma + uint64_t{sysv_hash_of(name) % counts[0]} * 4, &index)) return std::nullopt;
  for (uint32_t seen = 0; index != 0 && seen < std::min(counts[1], kMostSymbols); ++seen) {
    if (const std::optional<RemoteSymbol> symbol = symbol_at(index, name)) return symbol;
    if (!read_value(pid_, chains_avma + uint64_t{index} * 4, &index)) break;
  }
  return std::nullopt;
}

uint64_t RemoteObject::find_code(const std::string& bytes) const {
  for (const Segment& segment : segments_) {
    if (!segment.is_code || segment.end_avma - segment.start_avma > kMostCodeBytes) continue;
    std::string code(segment.end_avma - segment.start_avma, 0);
    if (!read_memory(pid_, segment.start_avma, code.data(), code.size())) continue;
    if (const size_t at = code.find(bytes); at != std::string::npos) return segment.start_avma + at;
  }
  return 0;
}

RemoteSymbol RemoteObject::unused_bytes() const {
  for (const Segment& segment : segments_) {
    if (segment.is_writable && segment.end_avma == end_avma_)
      return {end_avma_, (end_avma_ + kPageBytes - 1) / kPageBytes * kPageBytes - end_avma_};
  }
  return {};
}

std::vector<RemoteObject> read_objects(pid_t pid, const std::vector<Mapping>& mappings) {
  std::vector<RemoteObject> objects;
  for (const Mapping& mapping : mappings) {
    const bool is_file = !mapping.path.empty() && mapping.path[0] == '/';
    if (!is_file || mapping.offset != 0 || !mapping.is_readable) continue;
    if (!objects.empty() && objects.back().has(mapping.start_avma)) continue;  // a later segment of the same file
    std::optional<RemoteObject> object = RemoteObject::read(pid, mapping);
    if (object && object->is_loaded(mappings)) objects.push_back(std::move(*object));
  }
  return objects;
}

const RemoteObject* find_object(const std::vector<RemoteObject>& objects, const std::string& file_name) {
  const auto found = std::find_if(objects.begin(), objects.end(), [&](const RemoteObject& object) {
    return base_name(object.path()).starts_with(file_name);
  });
  return found == objects.end() ? nullptr : &*found;
}

}  // namespace heapprof::cli
