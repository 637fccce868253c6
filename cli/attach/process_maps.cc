// cli/attach/process_maps.cc: /proc/PID/maps, and the tables of the files that stand there.
//
// Files are opened below /proc/PID/root: a process in a container has others at the same paths.
#include "cli/attach/process_maps.h"

#include "cli/base/fd.h"
#include "cli/base/file_name.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <fstream>

namespace heapprof::cli {

namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kMostCodeBytes = 64u << 20;

// A process in a mount namespace of its own may show another kind of file there.
UniqueFd open_object(const std::string& file) {
  UniqueFd fd(open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  struct stat status {};
  if (!fd.is_open() || fstat(fd.get(), &status) != 0 || !S_ISREG(status.st_mode)) return UniqueFd();
  return fd;
}

std::optional<MappedObject> object_of(pid_t pid, const std::vector<Mapping>& mappings, const std::string& path) {
  MappedObject object;
  object.path = path;
  object.file = "/proc/" + std::to_string(pid) + "/root" + path;
  for (const Mapping& mapping : mappings) {
    if (mapping.path != path) continue;
    if (object.end_avma == 0) object.start_avma = mapping.start_avma;
    object.end_avma = mapping.end_avma;
  }
  if (object.end_avma == 0) return std::nullopt;
  // The first segment begins where the file does.
  const UniqueFd fd = open_object(object.file);
  if (!fd.is_open() || elf_version(EV_CURRENT) == EV_NONE) return std::nullopt;
  Elf* const elf = elf_begin(fd.get(), ELF_C_READ, nullptr);
  if (elf == nullptr) return std::nullopt;
  size_t count = 0;
  uint64_t first_vaddr = UINT64_MAX;
  elf_getphdrnum(elf, &count);
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr header;
    if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr || header.p_type != PT_LOAD) continue;
    first_vaddr = std::min<uint64_t>(first_vaddr, header.p_vaddr);
  }
  elf_end(elf);
  if (first_vaddr == UINT64_MAX) return std::nullopt;
  object.bias = object.start_avma - (first_vaddr & ~(kPageBytes - 1));
  return object;
}

}  // namespace

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

std::optional<MappedObject> find_object(pid_t pid, const std::vector<Mapping>& mappings, const std::string& file_name) {
  for (const Mapping& mapping : mappings) {
    if (mapping.path.empty() || mapping.path[0] != '/' || mapping.offset != 0) continue;
    if (base_name(mapping.path).starts_with(file_name) && !mapping.path.ends_with(" (deleted)"))
      return object_of(pid, mappings, mapping.path);
  }
  return std::nullopt;
}

std::optional<MappedObject> object_at(pid_t pid, const std::vector<Mapping>& mappings, uint64_t address_avma) {
  const Mapping* const mapping = mapping_at(mappings, address_avma);
  if (mapping == nullptr || mapping->path.empty() || mapping->path[0] != '/') return std::nullopt;
  return object_of(pid, mappings, mapping->path);
}

uint64_t function_in(const MappedObject& object, const std::string& name) {
  const UniqueFd fd = open_object(object.file);
  if (!fd.is_open() || elf_version(EV_CURRENT) == EV_NONE) return 0;
  Elf* const elf = elf_begin(fd.get(), ELF_C_READ, nullptr);
  if (elf == nullptr) return 0;
  uint64_t found = 0;
  for (Elf_Scn* section = nullptr; found == 0 && (section = elf_nextscn(elf, section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_DYNSYM || header.sh_entsize == 0) continue;
    Elf_Data* const data = elf_getdata(section, nullptr);
    const size_t count = data == nullptr ? 0 : data->d_size / header.sh_entsize;
    for (size_t i = 0; found == 0 && i < count; ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, static_cast<int>(i), &symbol) == nullptr || symbol.st_shndx == SHN_UNDEF) continue;
      const char* const text = elf_strptr(elf, header.sh_link, symbol.st_name);
      if (text != nullptr && name == text && GELF_ST_TYPE(symbol.st_info) == STT_FUNC)
        found = object.bias + symbol.st_value;
    }
  }
  elf_end(elf);
  return found;
}

uint64_t bytes_in(pid_t pid, const std::vector<Mapping>& mappings, const MappedObject& object,
                  const std::string& bytes) {
  for (const Mapping& mapping : mappings) {
    const uint64_t size_bytes = mapping.end_avma - mapping.start_avma;
    if (mapping.path != object.path || !mapping.is_code || !mapping.is_readable || size_bytes > kMostCodeBytes)
      continue;
    std::string code(size_bytes, 0);
    iovec to{code.data(), size_bytes};
    iovec from{reinterpret_cast<void*>(mapping.start_avma), size_bytes};
    if (process_vm_readv(pid, &to, 1, &from, 1, 0) != static_cast<ssize_t>(size_bytes)) continue;
    if (const size_t at = code.find(bytes); at != std::string::npos) return mapping.start_avma + at;
  }
  return 0;
}

}  // namespace heapprof::cli
