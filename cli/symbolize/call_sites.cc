// cli/symbolize/call_sites.cc: DWARF 5 has separate names for what GNU's extension of DWARF 4 expressed with the
// existing ones.
//
// Lists of functions outside the module decide what a jump to them can reach. A function in neither list may reach
// anything, also functions of the module.
#include "cli/symbolize/call_sites.h"

#include "cli/model/profile/symbols.h"

#include <dwarf.h>

#include <algorithm>
#include <array>
#include <string>

namespace heapprof::cli {
namespace {

constexpr int kMaxChain = 16;

constexpr std::array<std::string_view, 12> kAllocators = {"aligned_alloc", "calloc",  "malloc",       "memalign",
                                                          "mmap",          "mmap64",  "mremap",       "posix_memalign",
                                                          "pvalloc",       "realloc", "reallocarray", "valloc"};

constexpr std::array<std::string_view, 40> kEnds = {"_exit",
                                                    "abort",
                                                    "cfree",
                                                    "close",
                                                    "exit",
                                                    "fclose",
                                                    "fflush",
                                                    "fputc",
                                                    "fputs",
                                                    "free",
                                                    "fwrite",
                                                    "memchr",
                                                    "memcmp",
                                                    "memcpy",
                                                    "memmove",
                                                    "mempcpy",
                                                    "memset",
                                                    "munmap",
                                                    "putc",
                                                    "putchar",
                                                    "puts",
                                                    "read",
                                                    "stpcpy",
                                                    "strcat",
                                                    "strchr",
                                                    "strcmp",
                                                    "strcpy",
                                                    "strlen",
                                                    "strncmp",
                                                    "strncpy",
                                                    "strnlen",
                                                    "strrchr",
                                                    "strstr",
                                                    "strtol",
                                                    "strtoul",
                                                    "time",
                                                    "unlink",
                                                    "write",
                                                    "pthread_mutex_lock",
                                                    "pthread_mutex_unlock"};

bool has_flag(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute memory;
  bool is_set = false;
  Dwarf_Attribute* const found = dwarf_attr(die, name, &memory);
  return found != nullptr && dwarf_formflag(found, &is_set) == 0 && is_set;
}

Dwarf_Addr address_of(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute memory;
  Dwarf_Addr address = 0;
  Dwarf_Attribute* const found = dwarf_attr(die, name, &memory);
  return found != nullptr && dwarf_formaddr(found, &address) == 0 ? address : 0;
}

std::optional<Dwarf_Die> entry_of(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute memory;
  Dwarf_Die entry;
  Dwarf_Attribute* const found = dwarf_attr(die, name, &memory);
  if (found == nullptr || dwarf_formref_die(found, &entry) == nullptr) return std::nullopt;
  return entry;
}

const char* text_of(Dwarf_Die* die, unsigned name) {
  Dwarf_Attribute memory;
  Dwarf_Attribute* const found = dwarf_attr(die, name, &memory);
  const char* const text = found == nullptr ? nullptr : dwarf_formstring(found);
  return text == nullptr || *text == '\0' ? nullptr : text;
}

uint64_t mix(uint64_t sum, uint64_t value) {
  sum = (sum ^ value) * 0x9E3779B97F4A7C15ull;
  return sum ^ (sum >> 32);
}

}  // namespace

bool is_call_site(unsigned tag) { return tag == DW_TAG_call_site || tag == DW_TAG_GNU_call_site; }

bool is_tail_call(Dwarf_Die* site) {
  return has_flag(site, DW_AT_call_tail_call) || has_flag(site, DW_AT_GNU_tail_call);
}

Dwarf_Addr return_address(Dwarf_Die* site) {
  return address_of(site, dwarf_tag(site) == DW_TAG_call_site ? DW_AT_call_return_pc : DW_AT_low_pc);
}

Dwarf_Addr call_address(Dwarf_Die* site) {
  if (const Dwarf_Addr behind = return_address(site); behind != 0) return behind - 1;
  return address_of(site, DW_AT_call_pc);
}

std::optional<Dwarf_Die> call_origin(Dwarf_Die* site) {
  const bool is_standard = dwarf_tag(site) == DW_TAG_call_site;
  const unsigned target = is_standard ? DW_AT_call_target : DW_AT_GNU_call_site_target;
  if (dwarf_hasattr(site, target) != 0) return std::nullopt;
  return entry_of(site, is_standard ? DW_AT_call_origin : DW_AT_abstract_origin);
}

bool describes_tail_calls(Dwarf_Die* function) {
  // An entry that describes all calls describes the tail calls.
  for (const unsigned name : {DW_AT_call_all_calls, DW_AT_call_all_tail_calls, DW_AT_call_all_source_calls,
                              DW_AT_GNU_all_call_sites, DW_AT_GNU_all_tail_call_sites, DW_AT_GNU_all_source_call_sites})
    if (has_flag(function, name)) return true;
  return false;
}

FunctionIdentity identify(Dwarf_Die function) {
  FunctionIdentity identity{function, nullptr};
  const char* linkage = nullptr;
  const char* plain = nullptr;
  bool is_external = false;
  for (int steps = 0; steps < kMaxChain; ++steps) {
    Dwarf_Die& at = identity.root;
    if (linkage == nullptr) linkage = text_of(&at, DW_AT_linkage_name);
    if (linkage == nullptr) linkage = text_of(&at, DW_AT_MIPS_linkage_name);
    if (plain == nullptr) plain = text_of(&at, DW_AT_name);
    is_external = is_external || has_flag(&at, DW_AT_external);
    std::optional<Dwarf_Die> next = entry_of(&at, DW_AT_abstract_origin);
    if (!next) next = entry_of(&at, DW_AT_specification);
    if (!next) break;
    at = *next;
  }
  if (is_external) identity.symbol = linkage != nullptr ? linkage : plain;
  return identity;
}

uint64_t function_key(const FunctionIdentity& function) {
  uint64_t sum = 0;
  if (function.symbol != nullptr) {
    for (const char* at = function.symbol; *at != '\0'; ++at) sum = mix(sum, static_cast<unsigned char>(*at));
  } else {
    // Offsets in a file of split debug information start at that file's beginning.
    Dwarf_Die root = function.root;
    uint64_t unit_id = 0;
    uint8_t type = 0;
    Dwarf_Half version = 0;
    const bool is_split = dwarf_cu_info(root.cu, &version, &type, nullptr, nullptr, &unit_id, nullptr, nullptr) == 0 &&
                          type == DW_UT_split_compile;
    sum = mix(mix(1, is_split ? unit_id : 0), dwarf_dieoffset(&root));
  }
  return sum > CallKeys::kAllocator ? sum : CallKeys::kAllocator + 1;
}

uint64_t target_key(const FunctionIdentity& function) {
  return function.symbol != nullptr && is_allocator_symbol(function.symbol) ? CallKeys::kAllocator
                                                                            : function_key(function);
}

bool is_allocator_symbol(std::string_view symbol) {
  return symbol.starts_with("_Znw") || symbol.starts_with("_Zna") ||
         std::find(kAllocators.begin(), kAllocators.end(), symbol) != kAllocators.end();
}

bool is_end_symbol(std::string_view symbol) {
  return symbol.starts_with("_Zdl") || symbol.starts_with("_Zda") ||
         std::find(kEnds.begin(), kEnds.end(), symbol) != kEnds.end();
}

}  // namespace heapprof::cli
