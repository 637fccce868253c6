// cli/symbolize/debug_file.cc: passes the descriptor to libdwfl, at load bias 0, so that its addresses are the file's.
//
// libdwfl asks debuginfod last, and does not return its answer. So its own query is disabled (without DEBUGINFOD_URLS
// its client does nothing), and we ask with the function that libdwfl uses itself, and that static/debuginfod.cc
// replaces. libdwfl may still ask for dwz supplements, which have build ids of their own.
#include "cli/symbolize/debug_file.h"

#include "cli/base/file_name.h"
#include "cli/symbolize/elf_identity.h"
#include "cli/symbolize/zstd_sections.h"

#include <elfutils/libdwelf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

// libdw's own name.
extern "C" int __libdwfl_debuginfod_find_debuginfo(Dwfl*, const unsigned char* build_id, size_t build_id_bytes);

namespace heapprof::cli {

// Callbacks of libdwfl. *user is the module's DebugFile.
struct DebugFileCallbacks {
  // The module is reported with its file, so libdwfl need not find one.
  static int find_no_elf(Dwfl_Module*, void**, const char*, Dwarf_Addr, char**, Elf**) { return -1; }

  static int find_debuginfo(Dwfl_Module* module, void** user, const char* name, Dwarf_Addr base, const char* file_name,
                            const char* link_name, GElf_Word link_crc, char** path) {
    DebugFile* const file = static_cast<DebugFile*>(*user);
    if (file == nullptr)
      return dwfl_standard_find_debuginfo(module, user, name, base, file_name, link_name, link_crc, path);
    UniqueFd found(file->find_debuginfo(user, name, base, file_name, link_name, link_crc, path));
    return inflate_zstd_sections(std::move(found)).release();
  }
};

namespace {

// The default search path of dwfl_standard_find_debuginfo: the file's own folder, its folder .debug, the system's
// folder.
constexpr char kBesideTheFile[] = ":.debug:";
constexpr char kSystemFolder[] = "/usr/lib/debug";
constexpr char kUrls[] = "DEBUGINFOD_URLS";

class WithoutServers {
 public:
  WithoutServers() {
    if (!has_debuginfod_servers()) return;
    urls_ = std::getenv(kUrls);
    ::unsetenv(kUrls);
  }
  ~WithoutServers() {
    if (!urls_.empty()) ::setenv(kUrls, urls_.c_str(), 1);
  }
  WithoutServers(const WithoutServers&) = delete;
  WithoutServers& operator=(const WithoutServers&) = delete;

 private:
  std::string urls_;
};

UniqueFd open_file(const Module& module) {
  if (module.file && module.file->is_open()) return UniqueFd(::fcntl(module.file->get(), F_DUPFD_CLOEXEC, 3));
  return open_regular(module.path);
}

std::string path_by_build_id(const std::string& folder, const std::string& build_id) {
  return folder + "/.build-id/" + build_id.substr(0, 2) + "/" + build_id.substr(2) + ".debug";
}

std::vector<unsigned char> bytes_of(const std::string& hex) {
  std::vector<unsigned char> bytes;
  for (size_t i = 0; i + 1 < hex.size(); i += 2)
    bytes.push_back(static_cast<unsigned char>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  return bytes;
}

bool is_of(int fd, const std::string& build_id) {
  const std::optional<ElfIdentity> identity = read_elf_identity(fd);
  return identity && identity->build_id == build_id;
}

}  // namespace

bool has_debuginfod_servers() {
  const char* const urls = std::getenv(kUrls);
  return urls != nullptr && *urls != '\0';
}

DebugFile::DebugFile(const Module& module, const DebugSources& sources)
    : sources_(sources),
      build_id_(is_build_id(module.build_id) ? module.build_id : ""),
      folders_(kBesideTheFile + (sources.folders.empty() ? std::string(kSystemFolder) : sources.folders)),
      folders_pointer_(folders_.data()) {
  callbacks_.find_elf = DebugFileCallbacks::find_no_elf;
  callbacks_.find_debuginfo = DebugFileCallbacks::find_debuginfo;
  callbacks_.debuginfo_path = &folders_pointer_;
  if (open(module)) state_ = DebugFileState::kOpen;
}

DebugFile::~DebugFile() {
  if (dwfl_ != nullptr) dwfl_end(dwfl_);
}

bool DebugFile::open(const Module& module) {
  dwfl_ = dwfl_begin(&callbacks_);
  if (dwfl_ == nullptr) return false;
  UniqueFd file = open_file(module);
  if (file.is_open()) {
    state_ = DebugFileState::kNotElf;
    const std::optional<ElfIdentity> identity = read_elf_identity(file.get());
    if (identity) {
      if (module.build_id.empty() || module.build_id == identity->build_id) {
        if (is_build_id(identity->build_id)) build_id_ = identity->build_id;
        path_ = module.path;
        has_own_debug_info_ = read_elf_contents(file.get()).has_debug_info;
        return report(module, module.path, std::move(file));
      }
      state_ = DebugFileState::kChanged;
    }
  }
  std::string path;
  file = find_alone(build_id_, &path);
  if (!file.is_open()) return false;
  alone_path_ = path;
  return report(module, path, std::move(file));
}

bool DebugFile::report(const Module& module, const std::string& path, UniqueFd file) {
  dwfl_report_begin(dwfl_);
  file = inflate_zstd_sections(std::move(file));
  module_ = dwfl_report_elf(dwfl_, module.path.c_str(), path.c_str(), file.get(), 0, true);
  if (module_ == nullptr) return false;
  (void)file.release();  // libdwfl owns it now
  void** user = nullptr;
  dwfl_module_info(module_, &user, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr);
  if (user != nullptr) *user = this;
  return dwfl_report_end(dwfl_, nullptr, nullptr) == 0;
}

// A debug file to use if the module's own file is not available.
UniqueFd DebugFile::find_alone(const std::string& build_id, std::string* path) {
  if (build_id.empty()) return UniqueFd();
  if (sources_.index != nullptr) {
    UniqueFd file = sources_.index->open(build_id, path);
    if (file.is_open()) return file;
  }
  const std::string folders = folders_.substr(std::strlen(kBesideTheFile));
  for (size_t begin = 0; begin <= folders.size();) {
    const size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string folder = folders.substr(begin, end - begin);
    begin = end + 1;
    if (folder.empty()) continue;
    *path = path_by_build_id(folder, build_id);
    UniqueFd file = open_regular(*path);
    if (file.is_open() && is_of(file.get(), build_id)) return file;
  }
  *path = "debuginfod";
  UniqueFd file = ask_debuginfod(build_id);
  return file.is_open() && is_of(file.get(), build_id) ? std::move(file) : UniqueFd();
}

UniqueFd DebugFile::ask_debuginfod(const std::string& build_id) {
  if (build_id.empty() || debuginfod_answer_ || !has_debuginfod_servers()) return UniqueFd();
  const std::vector<unsigned char> bytes = bytes_of(build_id);
  const int answer = __libdwfl_debuginfod_find_debuginfo(dwfl_, bytes.data(), bytes.size());
  debuginfod_answer_ = answer < 0 ? -answer : 0;
  return UniqueFd(answer < 0 ? -1 : answer);
}

// Asks libdwfl, but with another module of the same file: libdwfl keeps what it finds open in the module, and would
// read that instead of the result of inflate_zstd_sections().
int DebugFile::search_folders(const char* name, Dwarf_Addr base, const char* file_name, const char* link_name,
                              GElf_Word link_crc, char** path) const {
  const WithoutServers quiet;
  Dwfl* const dwfl = dwfl_begin(&callbacks_);
  if (dwfl == nullptr) return -1;
  dwfl_report_begin(dwfl);
  Dwfl_Module* module = dwfl_report_elf(dwfl, name, file_name, -1, 0, true);
  if (module == nullptr) module = module_;  // the file was deleted
  void* user = nullptr;
  const int fd = dwfl_standard_find_debuginfo(module, &user, name, base, file_name, link_name, link_crc, path);
  dwfl_end(dwfl);
  return fd;
}

// libdwfl's callback: returns a descriptor, or -1. It is called for the module's own debug file, and again for its dwz
// supplement, with another link's name.
int DebugFile::find_debuginfo(void** user, const char* name, Dwarf_Addr base, const char* file_name,
                              const char* link_name, GElf_Word link_crc, char** path) {
  GElf_Addr bias = 0;
  Elf* const elf = dwfl_module_getelf(module_, &bias);
  GElf_Word own_crc = 0;
  const char* const own_link = elf == nullptr ? nullptr : dwelf_elf_gnu_debuglink(elf, &own_crc);
  const bool is_own = link_name == nullptr || (own_link != nullptr && std::strcmp(link_name, own_link) == 0);
  if (!is_own) return dwfl_standard_find_debuginfo(module_, user, name, base, file_name, link_name, link_crc, path);
  if (!alone_path_.empty()) return -1;  // the file itself is a debug file
  if (sources_.index != nullptr && !build_id_.empty()) {
    std::string found;
    UniqueFd file = sources_.index->open(build_id_, &found);
    const ElfContents contents = file.is_open() ? read_elf_contents(file.get()) : ElfContents();
    if (contents.has_debug_info || contents.has_symbols) {
      *path = ::strdup(found.c_str());
      return file.release();
    }
  }
  if (const int fd = search_folders(name, base, file_name, link_name, link_crc, path); fd >= 0) return fd;
  return ask_debuginfod(build_id_).release();
}

std::string DebugFile::debug_path() const {
  if (!alone_path_.empty() || module_ == nullptr) return alone_path_;
  const char* path = nullptr;
  dwfl_module_info(module_, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &path);
  return path == nullptr ? "" : path;
}

bool DebugFile::has_own_debug_info() const { return has_own_debug_info_; }

// Lists the paths that dwfl_standard_find_debuginfo searches: for the module's path, and again for the file to which it
// resolves. A relative folder is in the file's own folder. In an absolute folder, the debug file lies under all folders
// of the file's path, or under only the last ones, or under none of them.
std::vector<std::string> DebugFile::sought_paths() const {
  std::vector<std::string> paths;
  if (!path_.starts_with('/')) return paths;
  GElf_Addr bias = 0;
  GElf_Word crc = 0;
  Elf* const elf = dwfl_module_getelf(module_, &bias);
  const char* const link = elf == nullptr ? nullptr : dwelf_elf_gnu_debuglink(elf, &crc);
  std::error_code error;
  const std::string real = std::filesystem::canonical(path_, error).string();
  for (const std::string& file : {path_, error ? path_ : real}) {
    const std::string own = file.substr(0, file.rfind('/') + 1);
    const std::string name = base_name(file);
    const std::vector<std::string> names =
        link == nullptr ? std::vector<std::string>{name + ".debug", name} : std::vector<std::string>{link};
    for (size_t begin = 0; begin <= folders_.size();) {
      const size_t end = std::min(folders_.find(':', begin), folders_.size());
      const std::string folder = folders_.substr(begin, end - begin);
      begin = end + 1;
      const bool is_apart = folder.starts_with('/');
      if (is_apart && !build_id_.empty()) paths.push_back(path_by_build_id(folder, build_id_));
      for (const std::string& one : names) {
        if (!is_apart) paths.push_back(own + (folder.empty() ? "" : folder + "/") + one);
        for (size_t at = 0; is_apart && at != std::string::npos; at = own.find('/', at + 1))
          paths.push_back(folder + own.substr(at) + one);
      }
    }
  }
  std::erase_if(paths, [&](const std::string& path) { return path == path_ || path == real; });
  const bool is_any_there = std::any_of(paths.begin(), paths.end(),
                                        [](const std::string& path) { return ::access(path.c_str(), F_OK) == 0; });
  return is_any_there ? std::vector<std::string>() : paths;
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
