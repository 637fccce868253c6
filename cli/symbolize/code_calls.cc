// cli/symbolize/code_calls.cc: instructions cannot be decoded backwards, so every possible length of a call through a
// pointer is tried: if one fits, the five bytes of a direct call may be a part of it.
#include "cli/symbolize/code_calls.h"

#include <algorithm>
#include <cstring>

namespace heapprof::cli {
namespace {

constexpr size_t kDirectBytes = 5;
constexpr size_t kLongestIndirect = 7;  // FF, ModRM, SIB, four bytes; a prefix before it changes nothing

// Length of "call through a register or memory" (FF /2), by its ModRM and SIB bytes; 0: another instruction.
size_t indirect_length(std::span<const uint8_t> code) {
  if (code.size() < 2 || code[0] != 0xff || (code[1] >> 3 & 7) != 2) return 0;
  const unsigned mode = code[1] >> 6;
  const unsigned base = code[1] & 7;
  if (mode == 3) return 2;
  const bool has_sib = base == 4;
  if (has_sib && code.size() < 3) return 0;
  const bool has_no_base = has_sib ? (code[2] & 7) == 5 : base == 5;
  const size_t displacement = mode == 1 ? 1 : mode == 2 || has_no_base ? 4 : 0;
  return 2 + (has_sib ? 1 : 0) + displacement;
}

}  // namespace

int64_t direct_call_distance(std::span<const uint8_t> code) {
  if (code.size() < kDirectBytes || code[code.size() - kDirectBytes] != 0xe8) return 0;
  for (size_t length = 2; length <= std::min(kLongestIndirect, code.size()); ++length) {
    if (indirect_length(code.last(length)) == length) return 0;
  }
  int32_t distance = 0;
  std::memcpy(&distance, code.data() + code.size() - sizeof distance, sizeof distance);
  return distance;
}

CodeCalls::CodeCalls(const DebugFile& file) {
  GElf_Addr bias = 0;
  Elf* const elf = dwfl_module_getelf(file.module(), &bias);
  size_t file_bytes = 0;
  const char* const raw = elf == nullptr ? nullptr : elf_rawfile(elf, &file_bytes);
  GElf_Ehdr ehdr;
  if (raw == nullptr || gelf_getehdr(elf, &ehdr) == nullptr || ehdr.e_machine != EM_X86_64) return;
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) break;
    const bool is_code = header.sh_type == SHT_PROGBITS && (header.sh_flags & SHF_EXECINSTR) != 0;
    if (!is_code || header.sh_offset > file_bytes || header.sh_size > file_bytes - header.sh_offset) continue;
    const uint64_t low = header.sh_addr + bias;
    if (low + header.sh_size <= low) continue;
    const auto* const bytes = reinterpret_cast<const uint8_t*>(raw + header.sh_offset);
    sections_.push_back({{low, low + header.sh_size}, {bytes, header.sh_size}});
  }
}

uint64_t CodeCalls::target(uint64_t return_svma) const {
  for (const Section& section : sections_) {
    if (return_svma <= section.range.low || return_svma > section.range.high) continue;
    const size_t end = return_svma - section.range.low;
    const size_t begin = end - std::min<size_t>(end, kLongestIndirect);
    const int64_t distance = direct_call_distance(section.bytes.subspan(begin, end - begin));
    return distance == 0 ? 0 : return_svma + static_cast<uint64_t>(distance);
  }
  return 0;
}

}  // namespace heapprof::cli
