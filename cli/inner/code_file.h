// cli/inner/code_file.h: the functions and the code of an ELF file, from its symbol tables and its unwind tables.
//
// Guarantees
//  - Functions of .symtab and .dynsym are found, and those of the separate debug file if one is given. If the program
//    was stripped, .eh_frame_hdr still tells where functions begin.
// Not provided: 32-bit files, other byte orders, files with more than 128 MiB in one table.
// Trust:    any bytes: every offset, size and count is checked before it is used.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

struct CodeSymbol {
  uint64_t start_svma = 0;
  uint64_t size_bytes = 0;   // 0: unknown
  std::string_view name;     // points into strings_
  bool is_indirect = false;  // STT_GNU_IFUNC: the address is that of the resolver
};

class CodeFile {
 public:
  // Reads the symbols. nullopt: no readable ELF file for this processor. debug_fd: -1: no debug file.
  static std::optional<CodeFile> read(int fd, int debug_fd);
  // Reads the code, and where functions begin. False: it cannot be read.
  bool read_code();

  // Sorted by address; names of one address are adjacent.
  const std::vector<CodeSymbol>& functions() const { return functions_; }
  // The bytes of code at that address; empty: not all of them are in a code segment.
  std::span<const unsigned char> code_at(uint64_t start_svma, uint64_t size_bytes) const;
  // The first address after `start_svma` at which another function begins, or its code segment ends.
  uint64_t next_start_svma(uint64_t start_svma) const;
  // The last address up to that one at which a function begins; 0: none.
  uint64_t start_before(uint64_t svma) const;
  bool is_start(uint64_t svma) const;
  // All code, one segment after the other.
  struct Code {
    uint64_t start_svma;
    std::span<const unsigned char> bytes;
  };
  std::vector<Code> all_code() const;
  // At most `size_bytes` bytes at that address, in any segment.
  std::vector<unsigned char> bytes_at(uint64_t start_svma, uint64_t size_bytes) const;
  struct Pointer {
    uint64_t at_svma;
    uint64_t value_svma;
  };
  // Every word of the file with a value in that range, stored or after relocation (R_…_RELATIVE). nullopt: the
  // file cannot be read completely.
  std::optional<std::vector<Pointer>> pointers_between(uint64_t start_svma, uint64_t end_svma) const;
  uint64_t base_svma() const { return base_svma_; }
  uint64_t limit_svma() const { return limit_svma_; }
  bool has_loader() const { return has_loader_; }  // PT_INTERP: it is a dynamically linked program

 private:
  struct Segment {
    uint64_t start_svma = 0;
    uint64_t file_off = 0;
    uint64_t size_bytes = 0;
    bool is_code = false;
    std::vector<unsigned char> bytes;  // for code, once read_code() was called
  };
  bool read_segments(int fd);
  bool read_symbols(int fd);
  void read_unwind_starts();

  int fd_ = -1;
  std::vector<Segment> segments_;
  std::vector<std::vector<char>> strings_;
  std::vector<CodeSymbol> functions_;
  std::vector<uint64_t> starts_;  // sorted
  uint64_t unwind_header_svma_ = 0;
  uint64_t unwind_header_bytes_ = 0;
  uint64_t base_svma_ = 0;
  uint64_t limit_svma_ = 0;
  bool has_all_names_ = false;  // there is a .symtab
  bool has_loader_ = false;
};

}  // namespace heapprof::cli
