// cli/target/elf_file.cc: the file is read by pread in pieces, so that a sparse file of a terabyte costs no more than a
// small one.
//
// Dynamic symbols are found by the program headers, as the loader finds them, because section headers may be stripped.
// The number of symbols is not stored. It follows from DT_HASH, or from the end of DT_GNU_HASH's last chain, or from
// the address of the string table, which linkers put after the symbols.
#include "cli/target/elf_file.h"

#include "cli/base/fd.h"
#include "cli/base/problems.h"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>

namespace heapprof::cli {
namespace {

constexpr size_t kMostProgramHeaders = 4096;
constexpr size_t kMostDynamicEntries = 65'536;
constexpr size_t kMostNeeded = 4096;
constexpr size_t kMostSymbols = 4'000'000;
constexpr size_t kLongestName = 4096;
constexpr uint64_t kMostStringBytes = 256u << 20;

class Reader {
 public:
  explicit Reader(int fd) : fd_(fd) {
    struct stat facts {};
    if (::fstat(fd, &facts) == 0 && facts.st_size > 0) size_ = static_cast<uint64_t>(facts.st_size);
  }

  uint64_t size() const { return size_; }

  bool read(uint64_t offset, void* target, size_t bytes) const {
    return offset <= size_ && bytes <= size_ - offset && read_at(fd_, target, bytes, offset);
  }

  template <typename T>
  bool read_all(uint64_t offset, size_t count, std::vector<T>* target) const {
    if (count > size_ / sizeof(T)) return false;
    target->resize(count);
    return read(offset, target->data(), count * sizeof(T));
  }

 private:
  int fd_;
  uint64_t size_ = 0;
};

// The parts of a 64-bit little-endian file that its program headers point to.
class Elf64 {
 public:
  Elf64(const Reader& reader, const std::vector<Elf64_Phdr>& headers) : reader_(reader), headers_(headers) {}

  // The file offset that the loader would map at this address.
  std::optional<uint64_t> file_offset(uint64_t address) const {
    for (const Elf64_Phdr& header : headers_) {
      if (header.p_type == PT_LOAD && address >= header.p_vaddr && address - header.p_vaddr < header.p_filesz) {
        return header.p_offset + (address - header.p_vaddr);
      }
    }
    return std::nullopt;
  }

  // Reads the dynamic section as the loader does: finds it by its address, reads until DT_NULL, and ignores its offset
  // and size.
  void read_dynamic() {
    for (const Elf64_Phdr& header : headers_) {
      if (header.p_type != PT_DYNAMIC) continue;
      std::optional<uint64_t> offset = file_offset(header.p_vaddr);
      Elf64_Dyn entry{};
      while (offset && dynamic_.size() < kMostDynamicEntries && reader_.read(*offset, &entry, sizeof entry) &&
             entry.d_tag != DT_NULL) {
        dynamic_.push_back(entry);
        *offset += sizeof entry;
      }
      read_strings();
      return;
    }
  }

  std::vector<std::string> run_paths() const {
    std::vector<std::string> paths;
    for (const Elf64_Dyn& entry : dynamic_) {
      const bool is_path = entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH;
      if (is_path && paths.size() < kMostNeeded) paths.emplace_back(name_at(entry.d_un.d_val));
    }
    return paths;
  }

  std::vector<std::string> needed() const {
    std::vector<std::string> names;
    for (const Elf64_Dyn& entry : dynamic_) {
      if (entry.d_tag == DT_NEEDED && names.size() < kMostNeeded) names.emplace_back(name_at(entry.d_un.d_val));
    }
    return names;
  }

  std::string own_name() const {
    const std::optional<uint64_t> name = value_of(DT_SONAME);
    return name ? std::string(name_at(*name)) : "";
  }

  std::string_view name_at(uint64_t offset) const {
    if (offset >= strings_.size()) return {};
    const std::string_view rest(strings_.data() + offset, strings_.size() - offset);
    return rest.substr(0, std::min(rest.find('\0'), kLongestName));
  }

  std::vector<Elf64_Sym> symbols() const {
    std::vector<Elf64_Sym> table;
    const std::optional<uint64_t> address = value_of(DT_SYMTAB);
    const std::optional<uint64_t> offset = address ? file_offset(*address) : std::nullopt;
    if (!offset || *offset > reader_.size()) return table;
    const uint64_t room = (reader_.size() - *offset) / sizeof(Elf64_Sym);
    const uint64_t count = std::min<uint64_t>({symbol_count(*address), room, kMostSymbols});
    if (!reader_.read_all(*offset, count, &table)) table.clear();
    return table;
  }

 private:
  std::optional<uint64_t> value_of(int64_t tag) const {
    for (const Elf64_Dyn& entry : dynamic_) {
      if (entry.d_tag == tag) return entry.d_un.d_val;
    }
    return std::nullopt;
  }

  void read_strings() {
    const std::optional<uint64_t> address = value_of(DT_STRTAB);
    const std::optional<uint64_t> offset = address ? file_offset(*address) : std::nullopt;
    if (!offset || *offset >= reader_.size()) return;
    // The loader does not read DT_STRSZ, so that may be wrong.
    const uint64_t room = std::min(reader_.size() - *offset, kMostStringBytes);
    if (!reader_.read_all(*offset, std::min(value_of(DT_STRSZ).value_or(room), room), &strings_)) strings_.clear();
  }

  uint64_t symbol_count(uint64_t symbols_address) const {
    if (const auto hash = value_of(DT_HASH)) {
      uint32_t words[2] = {};
      const std::optional<uint64_t> offset = file_offset(*hash);
      if (offset && reader_.read(*offset, words, sizeof words)) return words[1];  // nchain: one for each symbol
    }
    if (const auto hash = value_of(DT_GNU_HASH)) {
      if (const uint64_t count = count_by_gnu_hash(*hash); count > 0) return count;
    }
    const std::optional<uint64_t> strings = value_of(DT_STRTAB);
    return strings && *strings > symbols_address ? (*strings - symbols_address) / sizeof(Elf64_Sym) : 0;
  }

  uint64_t count_by_gnu_hash(uint64_t address) const {
    uint32_t header[4] = {};  // buckets, first hashed symbol, bloom words, shift
    const std::optional<uint64_t> offset = file_offset(address);
    if (!offset || !reader_.read(*offset, header, sizeof header) || header[0] > kMostSymbols ||
        header[2] > kMostSymbols)
      return 0;
    std::vector<uint32_t> buckets;
    const uint64_t buckets_offset = *offset + sizeof header + uint64_t{header[2]} * 8;
    if (!reader_.read_all(buckets_offset, header[0], &buckets) || buckets.empty()) return 0;
    uint64_t last = *std::max_element(buckets.begin(), buckets.end());
    if (last < header[1]) return header[1];
    const uint64_t chains_offset = buckets_offset + uint64_t{header[0]} * 4;
    for (; last < kMostSymbols; ++last) {  // the last chain ends with an odd value
      uint32_t value = 0;
      if (!reader_.read(chains_offset + (last - header[1]) * 4, &value, sizeof value)) return 0;
      if ((value & 1) != 0) return last + 1;
    }
    return 0;
  }

  const Reader& reader_;
  const std::vector<Elf64_Phdr>& headers_;
  std::vector<Elf64_Dyn> dynamic_;
  std::vector<char> strings_;
};

}  // namespace

Result<ElfFacts> read_elf(int fd, const std::vector<std::string>& symbols, const std::string& program) {
  const Reader reader(fd);
  ElfFacts facts;
  Elf64_Ehdr header{};
  // The first 20 bytes of an ELF header have the same layout in 32-bit and 64-bit files.
  if (!reader.read(0, &header, 20)) return program_is_damaged(program, "it ends inside the ELF header");
  facts.is_64_bit = header.e_ident[EI_CLASS] == ELFCLASS64;
  facts.is_little_endian = header.e_ident[EI_DATA] == ELFDATA2LSB;
  facts.type = header.e_type;
  facts.machine = header.e_machine;
  if (!facts.is_64_bit || !facts.is_little_endian) return facts;
  if (!reader.read(0, &header, sizeof header)) return program_is_damaged(program, "it ends inside the ELF header");
  if (header.e_phentsize != sizeof(Elf64_Phdr) || header.e_phnum == 0 || header.e_phnum > kMostProgramHeaders) {
    return program_is_damaged(program, "it has no usable program headers");
  }
  std::vector<Elf64_Phdr> headers;
  if (!reader.read_all(header.e_phoff, header.e_phnum, &headers)) {
    return program_is_damaged(program, "its program headers lie beyond its end");
  }
  for (const Elf64_Phdr& segment : headers) {
    if (segment.p_type != PT_INTERP || facts.has_loader) continue;
    std::vector<char> text;
    if (segment.p_filesz == 0 || segment.p_filesz > kLongestName ||
        !reader.read_all(segment.p_offset, segment.p_filesz, &text)) {
      return program_is_damaged(program, "the name of its loader lies beyond its end");
    }
    facts.has_loader = true;
    facts.loader.assign(text.data(), ::strnlen(text.data(), text.size()));
  }
  Elf64 elf(reader, headers);
  elf.read_dynamic();
  facts.needed = elf.needed();
  facts.run_paths = elf.run_paths();
  facts.own_name = elf.own_name();
  if (symbols.empty()) return facts;
  for (const Elf64_Sym& symbol : elf.symbols()) {
    const std::string_view name = elf.name_at(symbol.st_name);
    if (name.empty() || std::find(symbols.begin(), symbols.end(), name) == symbols.end()) continue;
    if (symbol.st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol.st_info) == STB_WEAK) continue;
    std::vector<std::string>& names = symbol.st_shndx == SHN_UNDEF ? facts.required : facts.defined;
    if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
  }
  return facts;
}

}  // namespace heapprof::cli
