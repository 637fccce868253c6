// cli/inner/code_file.cc: reads tables one by one, each as a whole. No file is mapped, because a mapped file that
// shrinks would end heapprof by SIGBUS.
#include "cli/inner/code_file.h"

#include "cli/arch/arch.h"
#include "cli/base/file_table.h"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace heapprof::cli {

namespace {

constexpr uint64_t kMostCodeBytes = 1u << 30;
constexpr size_t kMostSegments = 256;

std::optional<Elf64_Ehdr> read_header(int fd) {
  Elf64_Ehdr header;
  if (!read_at(fd, &header, sizeof header, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return std::nullopt;
  const bool is_ours = header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB &&
                       header.e_machine == kElfMachine && (header.e_type == ET_EXEC || header.e_type == ET_DYN);
  if (!is_ours) return std::nullopt;
  return header;
}

}  // namespace

bool CodeFile::read_segments(int fd) {
  const std::optional<Elf64_Ehdr> header = read_header(fd);
  if (!header || header->e_phentsize != sizeof(Elf64_Phdr) || header->e_phnum > kMostSegments) return false;
  const auto entries = read_table<Elf64_Phdr>(fd, header->e_phoff, header->e_phnum * sizeof(Elf64_Phdr));
  if (!entries) return false;
  base_svma_ = UINT64_MAX;
  for (const Elf64_Phdr& entry : *entries) {
    uint64_t end_svma;
    if (__builtin_add_overflow(entry.p_vaddr, entry.p_memsz, &end_svma)) return false;
    has_loader_ = has_loader_ || entry.p_type == PT_INTERP;
    if (entry.p_type == PT_GNU_EH_FRAME) {
      unwind_header_svma_ = entry.p_vaddr;
      unwind_header_bytes_ = entry.p_filesz;
    }
    if (entry.p_type != PT_LOAD || entry.p_memsz == 0) continue;
    base_svma_ = std::min(base_svma_, entry.p_vaddr);
    limit_svma_ = std::max(limit_svma_, end_svma);
    const bool is_code = (entry.p_flags & PF_X) != 0;
    segments_.push_back({entry.p_vaddr, entry.p_offset, std::min(entry.p_filesz, entry.p_memsz), is_code, {}});
  }
  return base_svma_ < limit_svma_;
}

namespace {
std::optional<std::vector<Elf64_Shdr>> read_sections(int fd) {
  const std::optional<Elf64_Ehdr> header = read_header(fd);
  if (!header || header->e_shentsize != sizeof(Elf64_Shdr)) return std::nullopt;
  return read_table<Elf64_Shdr>(fd, header->e_shoff, header->e_shnum * sizeof(Elf64_Shdr));
}
}  // namespace

bool CodeFile::read_symbols(int fd) {
  const std::optional<std::vector<Elf64_Shdr>> sections = read_sections(fd);
  if (!sections) return false;
  for (const Elf64_Shdr& section : *sections) {
    const bool is_table = section.sh_type == SHT_SYMTAB || section.sh_type == SHT_DYNSYM;
    if (!is_table || section.sh_link >= sections->size()) continue;
    const Elf64_Shdr& text = (*sections)[section.sh_link];
    if (text.sh_type != SHT_STRTAB) continue;
    const auto symbols = read_table<Elf64_Sym>(fd, section.sh_offset, section.sh_size);
    auto strings = read_table<char>(fd, text.sh_offset, text.sh_size);
    if (!symbols || !strings) continue;
    has_all_names_ = has_all_names_ || section.sh_type == SHT_SYMTAB;
    strings_.push_back(std::move(*strings));  // its bytes do not move when the list grows
    const std::vector<char>& names = strings_.back();
    for (const Elf64_Sym& symbol : *symbols) {
      const unsigned type = ELF64_ST_TYPE(symbol.st_info);
      const bool is_function = (type == STT_FUNC || type == STT_GNU_IFUNC) && symbol.st_shndx != SHN_UNDEF;
      if (!is_function || symbol.st_name >= names.size()) continue;
      const char* name = names.data() + symbol.st_name;
      functions_.push_back({symbol.st_value, symbol.st_size,
                            std::string_view(name, ::strnlen(name, names.size() - symbol.st_name)),
                            type == STT_GNU_IFUNC});
    }
  }
  return true;
}

std::optional<CodeFile> CodeFile::read(int fd, int debug_fd) {
  CodeFile file;
  file.fd_ = fd;
  if (!file.read_segments(fd)) return std::nullopt;
  file.read_symbols(fd);  // without sections there are no symbols
  if (debug_fd >= 0 && !file.has_all_names_) file.read_symbols(debug_fd);
  std::stable_sort(file.functions_.begin(), file.functions_.end(),
                   [](const CodeSymbol& a, const CodeSymbol& b) { return a.start_svma < b.start_svma; });
  return file;
}

// .eh_frame_hdr: version 1, the encodings of three values, the address of .eh_frame, the number of entries, then pairs
// of distances from its own start. Linkers write the table as signed distances of 4 bytes; other forms are not read.
void CodeFile::read_unwind_starts() {
  constexpr unsigned char kHead[] = {1, 0x1b, 0x03, 0x3b};
  struct Entry {
    int32_t start;
    int32_t description;
  };
  constexpr size_t kHeadBytes = sizeof kHead + 8;
  for (const Segment& segment : segments_) {
    const uint64_t offset = unwind_header_svma_ - segment.start_svma;
    if (unwind_header_bytes_ < kHeadBytes || offset >= segment.size_bytes ||
        segment.size_bytes - offset < unwind_header_bytes_)
      continue;
    const auto bytes = read_table<unsigned char>(fd_, segment.file_off + offset, unwind_header_bytes_);
    if (!bytes || std::memcmp(bytes->data(), kHead, sizeof kHead) != 0) return;
    uint32_t count = 0;
    std::memcpy(&count, bytes->data() + sizeof kHead + 4, sizeof count);
    count = static_cast<uint32_t>(std::min<uint64_t>(count, (bytes->size() - kHeadBytes) / sizeof(Entry)));
    for (uint32_t i = 0; i < count; ++i) {
      Entry entry;
      std::memcpy(&entry, bytes->data() + kHeadBytes + i * sizeof entry, sizeof entry);
      starts_.push_back(unwind_header_svma_ + static_cast<uint64_t>(static_cast<int64_t>(entry.start)));
    }
    return;
  }
}

bool CodeFile::read_code() {
  uint64_t all_bytes = 0;
  for (Segment& segment : segments_) {
    if (!segment.is_code) continue;
    all_bytes += segment.size_bytes;
    const off_t end = ::lseek(fd_, 0, SEEK_END);
    const bool is_whole = end >= 0 && segment.file_off <= static_cast<uint64_t>(end) &&
                          segment.size_bytes <= static_cast<uint64_t>(end) - segment.file_off;
    if (!is_whole || all_bytes > kMostCodeBytes) return false;
    segment.bytes.resize(segment.size_bytes);
    if (!read_at(fd_, segment.bytes.data(), segment.size_bytes, segment.file_off)) return false;
  }
  starts_.clear();
  read_unwind_starts();
  for (const CodeSymbol& function : functions_) starts_.push_back(function.start_svma);
  std::sort(starts_.begin(), starts_.end());
  starts_.erase(std::unique(starts_.begin(), starts_.end()), starts_.end());
  return true;
}

std::span<const unsigned char> CodeFile::code_at(uint64_t start_svma, uint64_t size_bytes) const {
  for (const Segment& segment : segments_) {
    const uint64_t offset = start_svma - segment.start_svma;
    if (offset < segment.bytes.size() && size_bytes <= segment.bytes.size() - offset)
      return std::span(segment.bytes).subspan(offset, size_bytes);
  }
  return {};
}

uint64_t CodeFile::next_start_svma(uint64_t start_svma) const {
  uint64_t next = start_svma;
  for (const Segment& segment : segments_) {
    const uint64_t offset = start_svma - segment.start_svma;
    if (offset < segment.bytes.size()) next = segment.start_svma + segment.bytes.size();
  }
  const auto behind = std::upper_bound(starts_.begin(), starts_.end(), start_svma);
  return behind == starts_.end() ? next : std::min(next, *behind);
}

uint64_t CodeFile::start_before(uint64_t svma) const {
  const auto behind = std::upper_bound(starts_.begin(), starts_.end(), svma);
  return behind == starts_.begin() ? 0 : *(behind - 1);
}

std::vector<CodeFile::Code> CodeFile::all_code() const {
  std::vector<Code> all;
  for (const Segment& segment : segments_) {
    if (!segment.bytes.empty()) all.push_back({segment.start_svma, segment.bytes});
  }
  return all;
}

std::vector<unsigned char> CodeFile::bytes_at(uint64_t start_svma, uint64_t size_bytes) const {
  for (const Segment& segment : segments_) {
    const uint64_t offset = start_svma - segment.start_svma;
    if (offset >= segment.size_bytes) continue;
    const auto bytes =
        read_table<unsigned char>(fd_, segment.file_off + offset, std::min(size_bytes, segment.size_bytes - offset));
    return bytes ? *bytes : std::vector<unsigned char>();
  }
  return {};
}

std::optional<std::vector<CodeFile::Pointer>> CodeFile::pointers_between(uint64_t start_svma, uint64_t end_svma) const {
  std::vector<Pointer> found;
  const auto add = [&](uint64_t at_svma, uint64_t value_svma) {
    if (value_svma >= start_svma && value_svma < end_svma) found.push_back({at_svma, value_svma});
  };
  const std::optional<std::vector<Elf64_Shdr>> sections = read_sections(fd_);
  if (!sections) return std::nullopt;
  for (const Elf64_Shdr& section : *sections) {
    if (section.sh_type != SHT_RELA) continue;
    const auto entries = read_table<Elf64_Rela>(fd_, section.sh_offset, section.sh_size);
    if (!entries) return std::nullopt;
    for (const Elf64_Rela& entry : *entries) {
      if (ELF64_R_TYPE(entry.r_info) == kRelativeRelocation) add(entry.r_offset, static_cast<uint64_t>(entry.r_addend));
    }
  }
  constexpr uint64_t kAtOnce = 1 << 20;
  for (const Segment& segment : segments_) {
    for (uint64_t done = 0; done < segment.size_bytes; done += kAtOnce) {
      const uint64_t bytes = std::min(kAtOnce, segment.size_bytes - done);
      const auto words = read_table<uint64_t>(fd_, segment.file_off + done, bytes);
      if (!words) return std::nullopt;
      for (size_t i = 0; i < words->size(); ++i) add(segment.start_svma + done + i * sizeof(uint64_t), (*words)[i]);
    }
  }
  return found;
}

bool CodeFile::is_start(uint64_t svma) const { return std::binary_search(starts_.begin(), starts_.end(), svma); }

}  // namespace heapprof::cli
