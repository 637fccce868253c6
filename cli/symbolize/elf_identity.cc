// cli/symbolize/elf_identity.cc: reads the build id where the loader would: in the PT_NOTE segments, which strip keeps.
// A file with only debug information has the program headers of the whole file, so the notes may lie elsewhere; its
// sections say where.
#include "cli/symbolize/elf_identity.h"

#include "cli/base/fd.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

namespace heapprof::cli {
namespace {

constexpr size_t kMaxNoteBytes = 1 << 20;

std::string to_hex(const unsigned char* bytes, size_t count) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * count);
  for (size_t i = 0; i < count; ++i) {
    text += kDigits[bytes[i] >> 4];
    text += kDigits[bytes[i] & 15];
  }
  return text;
}

// The build id in these notes; empty if they have none.
std::string build_id_in_notes(const std::vector<unsigned char>& notes, uint64_t alignment) {
  const uint64_t align = alignment == 8 ? 8 : 4;
  auto round_up = [align](uint64_t value) { return (value + align - 1) & ~(align - 1); };
  uint64_t position = 0;
  while (notes.size() - position >= sizeof(Elf64_Nhdr)) {
    Elf64_Nhdr header;
    std::memcpy(&header, notes.data() + position, sizeof header);
    uint64_t name = position + sizeof header;
    uint64_t description = round_up(name + header.n_namesz);
    uint64_t next = round_up(description + header.n_descsz);
    if (description > notes.size() || description + header.n_descsz > notes.size()) break;
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == 4 && std::memcmp(notes.data() + name, "GNU", 4) == 0) {
      return to_hex(notes.data() + description, std::min<size_t>(header.n_descsz, 64));
    }
    if (next > notes.size()) break;
    position = next;
  }
  return {};
}

constexpr size_t kMaxSections = 65535;
constexpr size_t kMaxNameBytes = 1 << 20;

std::vector<Elf64_Shdr> read_sections(int fd, const Elf64_Ehdr& header) {
  std::vector<Elf64_Shdr> sections;
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shoff == 0) return sections;
  sections.resize(std::min<size_t>(header.e_shnum, kMaxSections));
  if (!read_at(fd, sections.data(), sections.size() * sizeof(Elf64_Shdr), header.e_shoff)) sections.clear();
  return sections;
}

bool read_header(int fd, Elf64_Ehdr* header) {
  struct stat info;
  if (::fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) return false;
  if (!read_at(fd, header, sizeof *header, 0)) return false;
  return std::memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64 &&
         header->e_ident[EI_DATA] == ELFDATA2LSB && (header->e_type == ET_EXEC || header->e_type == ET_DYN);
}

std::string build_id_at(int fd, uint64_t off, uint64_t size_bytes, uint64_t alignment) {
  if (size_bytes > kMaxNoteBytes) return {};
  std::vector<unsigned char> notes(size_bytes);
  return read_at(fd, notes.data(), notes.size(), off) ? build_id_in_notes(notes, alignment) : std::string();
}

}  // namespace

std::optional<ElfIdentity> read_elf_identity(int fd) {
  Elf64_Ehdr header;
  if (!read_header(fd, &header)) return std::nullopt;
  ElfIdentity identity;
  if (header.e_phentsize == sizeof(Elf64_Phdr)) {
    for (uint64_t i = 0; i < header.e_phnum && identity.build_id.empty(); ++i) {
      Elf64_Phdr segment;
      if (!read_at(fd, &segment, sizeof segment, header.e_phoff + i * sizeof segment)) break;
      if (segment.p_type == PT_NOTE)
        identity.build_id = build_id_at(fd, segment.p_offset, segment.p_filesz, segment.p_align);
    }
  }
  if (!identity.build_id.empty()) return identity;
  for (const Elf64_Shdr& section : read_sections(fd, header)) {
    if (section.sh_type != SHT_NOTE) continue;
    identity.build_id = build_id_at(fd, section.sh_offset, section.sh_size, section.sh_addralign);
    if (!identity.build_id.empty()) break;
  }
  return identity;
}

ElfContents read_elf_contents(int fd) {
  ElfContents contents;
  Elf64_Ehdr header;
  if (!read_header(fd, &header)) return contents;
  const std::vector<Elf64_Shdr> sections = read_sections(fd, header);
  std::string names;
  if (header.e_shstrndx < sections.size() && sections[header.e_shstrndx].sh_size <= kMaxNameBytes) {
    names.resize(sections[header.e_shstrndx].sh_size);
    if (!read_at(fd, names.data(), names.size(), sections[header.e_shstrndx].sh_offset)) names.clear();
  }
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type == SHT_NOBITS) continue;
    contents.has_symbols = contents.has_symbols || section.sh_type == SHT_SYMTAB;
    if (section.sh_name >= names.size()) continue;
    const std::string_view name = names.c_str() + section.sh_name;
    contents.has_debug_info = contents.has_debug_info || name == ".debug_info" || name == ".zdebug_info";
  }
  return contents;
}

}  // namespace heapprof::cli
