// cli/symbolize/zstd_sections.cc: nothing in the copy moves: inflated data is appended to the file, and the headers of
// these sections point there.
#include "cli/symbolize/zstd_sections.h"

#include "cli/base/fd.h"

#include <elf.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdint>
#include <cstring>
#include <vector>

namespace heapprof::cli {
namespace {

constexpr Elf64_Word kCompressedByZstd = 2;             // ELFCOMPRESS_ZSTD
constexpr uint64_t kMostInflated = uint64_t{16} << 30;  // bytes, of all sections of a file

struct Header {
  Elf64_Ehdr elf;
  std::vector<Elf64_Shdr> sections;
};

bool read_header(int fd, Header* header) {
  if (!read_at(fd, &header->elf, sizeof header->elf, 0)) return false;
  const Elf64_Ehdr& elf = header->elf;
  if (std::memcmp(elf.e_ident, ELFMAG, SELFMAG) != 0 || elf.e_ident[EI_CLASS] != ELFCLASS64 ||
      elf.e_ident[EI_DATA] != ELFDATA2LSB || elf.e_shentsize != sizeof(Elf64_Shdr))
    return false;
  header->sections.resize(elf.e_shnum);
  return read_at(fd, header->sections.data(), header->sections.size() * sizeof(Elf64_Shdr), elf.e_shoff);
}

bool is_by_zstd(int fd, const Elf64_Shdr& section, Elf64_Chdr* compressed) {
  return (section.sh_flags & SHF_COMPRESSED) != 0 && section.sh_type != SHT_NOBITS &&
         section.sh_size > sizeof *compressed && read_at(fd, compressed, sizeof *compressed, section.sh_offset) &&
         compressed->ch_type == kCompressedByZstd;
}

// A mapping of a whole, non-empty file.
class MappedFile {
 public:
  MappedFile(int fd, size_t size_bytes, int protection)
      : size_bytes_(size_bytes),
        start_(::mmap(nullptr, size_bytes, protection, (protection & PROT_WRITE) != 0 ? MAP_SHARED : MAP_PRIVATE, fd,
                      0)) {}
  ~MappedFile() {
    if (is_there()) ::munmap(start_, size_bytes_);
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  bool is_there() const { return start_ != MAP_FAILED; }
  char* at(uint64_t off) const { return static_cast<char*>(start_) + off; }

 private:
  size_t size_bytes_;
  void* start_;
};

}  // namespace

UniqueFd inflate_zstd_sections(UniqueFd file) {
  Header header{};
  struct stat facts {};
  if (!file.is_open() || ::fstat(file.get(), &facts) != 0 || !read_header(file.get(), &header)) return file;
  const auto file_bytes = static_cast<uint64_t>(facts.st_size);
  std::vector<size_t> found;
  uint64_t end = (file_bytes + 15) / 16 * 16;
  std::vector<Elf64_Shdr> inflated = header.sections;
  for (size_t i = 0; i < header.sections.size(); ++i) {
    Elf64_Chdr compressed{};
    const Elf64_Shdr& section = header.sections[i];
    if (!is_by_zstd(file.get(), section, &compressed)) continue;
    const bool is_in_file = section.sh_offset <= file_bytes && section.sh_size <= file_bytes - section.sh_offset;
    if (!is_in_file || compressed.ch_size == 0 || compressed.ch_size > kMostInflated) return file;
    inflated[i].sh_flags &= ~static_cast<Elf64_Xword>(SHF_COMPRESSED);
    inflated[i].sh_offset = end;
    inflated[i].sh_size = compressed.ch_size;
    inflated[i].sh_addralign = compressed.ch_addralign;
    end = (end + compressed.ch_size + 15) / 16 * 16;
    if (end > file_bytes + kMostInflated) return file;
    found.push_back(i);
  }
  if (found.empty()) return file;
  UniqueFd copy(::memfd_create("heapprof-debug", MFD_CLOEXEC));
  if (!copy.is_open() || ::ftruncate(copy.get(), static_cast<off_t>(end)) != 0) return file;
  const MappedFile from(file.get(), file_bytes, PROT_READ);
  const MappedFile to(copy.get(), end, PROT_READ | PROT_WRITE);
  if (!from.is_there() || !to.is_there()) return file;
  std::memcpy(to.at(0), from.at(0), file_bytes);
  for (const size_t i : found) {
    const Elf64_Shdr& section = header.sections[i];
    const size_t bytes =
        ZSTD_decompress(to.at(inflated[i].sh_offset), inflated[i].sh_size,
                        from.at(section.sh_offset + sizeof(Elf64_Chdr)), section.sh_size - sizeof(Elf64_Chdr));
    if (ZSTD_isError(bytes) != 0 || bytes != inflated[i].sh_size) return file;
  }
  std::memcpy(to.at(header.elf.e_shoff), inflated.data(), inflated.size() * sizeof(Elf64_Shdr));
  return copy;
}

}  // namespace heapprof::cli
