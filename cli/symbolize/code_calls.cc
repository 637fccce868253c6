// cli/symbolize/code_calls.cc: finds the code of a file; cli/arch knows what a call looks like.
#include "cli/symbolize/code_calls.h"

#include "cli/arch/arch.h"

#include <algorithm>

namespace heapprof::cli {

CodeCalls::CodeCalls(const DebugFile& file) {
  GElf_Addr bias = 0;
  Elf* const elf = dwfl_module_getelf(file.module(), &bias);
  size_t file_bytes = 0;
  const char* const raw = elf == nullptr ? nullptr : elf_rawfile(elf, &file_bytes);
  GElf_Ehdr ehdr;
  if (raw == nullptr || gelf_getehdr(elf, &ehdr) == nullptr || ehdr.e_machine != kElfMachine) return;
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
    const size_t begin = end - std::min<size_t>(end, kLongestCall);
    const int64_t distance = direct_call_distance(section.bytes.subspan(begin, end - begin));
    return distance == 0 ? 0 : return_svma + static_cast<uint64_t>(distance);
  }
  return 0;
}

}  // namespace heapprof::cli
