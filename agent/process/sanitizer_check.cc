// agent/process/sanitizer_check.cc: looks for a sanitizer's library among those that a program needs, and for its first
// function among those that the program defines.
//
// gcc links sanitizers as shared libraries (libasan.so.8), clang mostly statically. If a sanitizer is linked
// statically, the program exports its functions; if not, one word of the Bloom filter in the program's hash table tells
// so. cli/target/elf_check.cc checks the same for the program that `heapprof run` starts.
#include "agent/process/sanitizer_check.h"

#include "agent/libc/raw.h"

#include <string.h>

namespace heapprof::agent {

namespace {

constexpr uint32_t kMostHeaders = 64;
constexpr uint32_t kMostDynamicEntries = 512;
constexpr uint32_t kMostLibraries = 64;
constexpr uint32_t kMostInChain = 16;
constexpr char kLibraries[][20] = {"libasan.so",       "libtsan.so",        "libmsan.so",       "liblsan.so",
                                   "libhwasan.so",     "libclang_rt.asan",  "libclang_rt.tsan", "libclang_rt.msan",
                                   "libclang_rt.lsan", "libclang_rt.hwasan"};
constexpr char kFunctions[][16] = {"__asan_init", "__tsan_init", "__msan_init", "__lsan_init", "__hwasan_init"};

class Image {
 public:
  Image(int fd, const Elf64_Ehdr& header) : fd_(fd), header_(header) {}

  template <typename T>
  bool read(uint64_t offset, T* to) const {
    return read_bytes(offset, to, sizeof *to) == sizeof *to;
  }
  size_t read_bytes(uint64_t offset, void* to, size_t bytes) const {
    if (static_cast<int64_t>(offset) < 0) return 0;
    const long got =
        raw_syscall(SYS_pread64, fd_, reinterpret_cast<long>(to), static_cast<long>(bytes), static_cast<long>(offset));
    return is_error(got) ? 0 : static_cast<size_t>(got);
  }

  // Finds the dynamic section, and the tables that it points to. False: the file has no dynamic section.
  bool find_tables() {
    Elf64_Phdr dynamic;
    if (!find_header([](const Elf64_Phdr& one) { return one.p_type == PT_DYNAMIC; }, &dynamic)) return false;
    // found as the loader does; the header's own offset and size may be wrong
    dynamic_offset_ = file_offset(dynamic.p_vaddr);
    if (dynamic_offset_ == 0) return false;
    uint64_t strings = 0, symbols = 0, hash = 0;
    for_each_dynamic([&](const Elf64_Dyn& entry) {
      if (entry.d_tag == DT_STRTAB) strings = entry.d_un.d_ptr;
      if (entry.d_tag == DT_SYMTAB) symbols = entry.d_un.d_ptr;
      if (entry.d_tag == DT_GNU_HASH) hash = entry.d_un.d_ptr;
      return true;
    });
    strings_offset_ = file_offset(strings);
    symbols_offset_ = file_offset(symbols);
    hash_offset_ = file_offset(hash);
    return strings_offset_ != 0;
  }

  bool needs_sanitizer() const {
    uint32_t libraries = 0;
    bool found = false;
    for_each_dynamic([&](const Elf64_Dyn& entry) {
      if (entry.d_tag != DT_NEEDED) return true;
      char name[24] = {};
      read_bytes(strings_offset_ + entry.d_un.d_val, name, sizeof name - 1);
      found = is_sanitizer_library(name);
      return !found && ++libraries < kMostLibraries;
    });
    return found;
  }

  bool defines_sanitizer() const {
    uint32_t table[4];  // buckets, first symbol, Bloom words, Bloom shift
    if (hash_offset_ == 0 || symbols_offset_ == 0 || !read(hash_offset_, &table)) return false;
    if (table[0] == 0 || table[2] == 0) return false;
    for (const char* function : kFunctions) {
      if (defines(function, table)) return true;
    }
    return false;
  }

 private:
  template <typename Wanted>
  bool find_header(Wanted is_wanted, Elf64_Phdr* found) const {
    Elf64_Phdr headers[8];
    const uint32_t count = header_.e_phnum < kMostHeaders ? header_.e_phnum : kMostHeaders;
    if (header_.e_phentsize != sizeof(Elf64_Phdr)) return false;
    for (uint32_t first = 0; first < count; first += 8) {
      const size_t got = read_bytes(header_.e_phoff + first * sizeof(Elf64_Phdr), headers, sizeof headers);
      for (uint32_t i = 0; i < got / sizeof(Elf64_Phdr) && first + i < count; ++i) {
        if (!is_wanted(headers[i])) continue;
        *found = headers[i];
        return true;
      }
    }
    return false;
  }

  // The offset in the file at which the loader would find the address; 0: it is not in the file.
  uint64_t file_offset(uint64_t svma) const {
    Elf64_Phdr segment;
    const auto holds = [svma](const Elf64_Phdr& one) {
      return one.p_type == PT_LOAD && svma >= one.p_vaddr && svma - one.p_vaddr < one.p_filesz;
    };
    if (svma == 0 || !find_header(holds, &segment)) return 0;
    return segment.p_offset + (svma - segment.p_vaddr);
  }

  // Calls take(entry) until it returns false.
  template <typename Take>
  void for_each_dynamic(Take take) const {
    Elf64_Dyn entries[16];
    for (uint32_t first = 0; first < kMostDynamicEntries; first += 16) {
      const size_t got = read_bytes(dynamic_offset_ + first * sizeof(Elf64_Dyn), entries, sizeof entries);
      for (uint32_t i = 0; i < got / sizeof(Elf64_Dyn); ++i) {
        if (entries[i].d_tag == DT_NULL || !take(entries[i])) return;
      }
      if (got < sizeof entries) return;
    }
  }

  bool defines(const char* name, const uint32_t (&table)[4]) const {
    uint32_t hash = 5381;
    for (const char* at = name; *at != 0; ++at) hash = hash * 33 + static_cast<unsigned char>(*at);
    const uint64_t bloom_offset = hash_offset_ + sizeof table;
    const uint64_t buckets_offset = bloom_offset + uint64_t{table[2]} * 8;
    const uint64_t chains_offset = buckets_offset + uint64_t{table[0]} * 4;
    uint64_t word;
    uint32_t index;
    if (!read(bloom_offset + hash / 64 % table[2] * 8, &word)) return false;
    const uint64_t mask = 1ull << hash % 64 | 1ull << (hash >> (table[3] & 31)) % 64;
    if ((word & mask) != mask || !read(buckets_offset + hash % table[0] * 4, &index)) return false;
    if (index < table[1]) return false;
    for (uint32_t steps = 0; steps < kMostInChain; ++steps, ++index) {
      uint32_t chain;
      if (!read(chains_offset + uint64_t{index - table[1]} * 4, &chain)) return false;
      if ((chain | 1) == (hash | 1) && is_symbol(index, name)) return true;
      if ((chain & 1) != 0) return false;
    }
    return false;
  }

  bool is_symbol(uint32_t index, const char* name) const {
    Elf64_Sym symbol;
    char text[sizeof kFunctions[0]] = {};
    if (!read(symbols_offset_ + uint64_t{index} * sizeof symbol, &symbol) || symbol.st_shndx == SHN_UNDEF) return false;
    read_bytes(strings_offset_ + symbol.st_name, text, sizeof text);
    return strncmp(text, name, sizeof text) == 0;
  }

  int fd_;
  const Elf64_Ehdr& header_;
  uint64_t dynamic_offset_ = 0;
  uint64_t strings_offset_ = 0;
  uint64_t symbols_offset_ = 0;
  uint64_t hash_offset_ = 0;
};

}  // namespace

bool is_sanitizer_library(const char* name) {
  for (const char* library : kLibraries) {
    if (strncmp(name, library, strlen(library)) == 0) return true;
  }
  return false;
}

bool has_sanitizer(int fd, const Elf64_Ehdr& header) {
  Image image(fd, header);
  return image.find_tables() && (image.needs_sanitizer() || image.defines_sanitizer());
}

}  // namespace heapprof::agent
