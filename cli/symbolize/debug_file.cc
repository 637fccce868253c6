// cli/symbolize/debug_file.cc: hands the descriptor to libdwfl, at load bias 0, so that its addresses are the file's.
#include "cli/symbolize/debug_file.h"

#include "cli/symbolize/elf_identity.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <utility>

namespace heapprof::cli {
namespace {

// Where dwfl_standard_find_debuginfo looks unless told otherwise: beside the file, in .debug there, in the system's
// folder.
constexpr char kBesideTheFile[] = ":.debug:";
constexpr char kSystemFolder[] = "/usr/lib/debug";

// The module is reported with its file, so libdwfl has nothing to find.
int find_no_elf(Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) { return -1; }

UniqueFd open_file(const Module& module) {
  if (module.file && module.file->is_open()) return UniqueFd(::fcntl(module.file->get(), F_DUPFD_CLOEXEC, 3));
  return UniqueFd(::open(module.path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
}

}  // namespace

DebugFile::DebugFile(const Module& module, const std::string& debug_folders)
    : folders_(kBesideTheFile + (debug_folders.empty() ? std::string(kSystemFolder) : debug_folders)),
      folders_pointer_(folders_.data()) {
  callbacks_.find_elf = find_no_elf;
  callbacks_.find_debuginfo = dwfl_standard_find_debuginfo;
  callbacks_.debuginfo_path = &folders_pointer_;
  if (open(module)) state_ = DebugFileState::kOpen;
}

DebugFile::~DebugFile() {
  if (dwfl_ != nullptr) dwfl_end(dwfl_);
}

bool DebugFile::open(const Module& module) {
  UniqueFd file = open_file(module);
  if (!file.is_open()) return false;
  state_ = DebugFileState::kNotElf;
  std::optional<ElfIdentity> identity = read_elf_identity(file.get());
  if (!identity) return false;
  if (!module.build_id.empty() && module.build_id != identity->build_id) {
    state_ = DebugFileState::kChanged;
    return false;
  }
  dwfl_ = dwfl_begin(&callbacks_);
  if (dwfl_ == nullptr) return false;
  dwfl_report_begin(dwfl_);
  module_ = dwfl_report_elf(dwfl_, module.path.c_str(), module.path.c_str(), file.get(), 0, true);
  if (module_ != nullptr) (void)file.release();  // libdwfl's now
  return dwfl_report_end(dwfl_, nullptr, nullptr) == 0 && module_ != nullptr;
}

Dwarf* DebugFile::dwarf(Dwarf_Addr* bias) const { return dwfl_module_getdwarf(module_, bias); }

std::vector<AddressRange> DebugFile::executable() const {
  std::vector<AddressRange> ranges;
  GElf_Addr bias = 0;
  Elf* elf = dwfl_module_getelf(module_, &bias);
  size_t count = 0;
  if (elf == nullptr || elf_getphdrnum(elf, &count) != 0) return ranges;
  for (size_t i = 0; i < count; ++i) {
    GElf_Phdr segment;
    if (gelf_getphdr(elf, static_cast<int>(i), &segment) == nullptr) break;
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    uint64_t low = segment.p_vaddr + bias;
    if (low + segment.p_memsz > low) ranges.push_back({low, low + segment.p_memsz});
  }
  return ranges;
}

std::vector<AddressRange> DebugFile::code_sections() const {
  std::vector<AddressRange> ranges;
  GElf_Addr bias = 0;
  Elf* elf = dwfl_module_getelf(module_, &bias);
  Elf_Scn* section = nullptr;
  while (elf != nullptr && (section = elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) break;
    if ((header.sh_flags & SHF_ALLOC) == 0 || (header.sh_flags & SHF_EXECINSTR) == 0) continue;
    uint64_t low = header.sh_addr + bias;
    if (low + header.sh_size > low) ranges.push_back({low, low + header.sh_size});
  }
  return ranges;
}

}  // namespace heapprof::cli
