// cli/symbolize/debug_file.h: one module's ELF file, opened for its symbols and debug information, wherever they are
// stored.
//
// Finds separate debug files in the user's folders, by build id and .gnu_debuglink, dwz supplements, .gnu_debugdata,
// and asks debuginfod if DEBUGINFOD_URLS is set; libdwfl does all but the first. .dwp files need elfutils 0.192; every
// version finds .dwo files. Sections may be compressed with zlib or zstd. If the loaded file is not on this machine, a
// debug file with its build id is enough.
//
// Guarantees
//  - The file is the one that was loaded, or its debug file. If the build id differs or is missing, and no debug file
//    has the right one, the state is kChanged and nothing is read.
//  - Only regular files are opened: a pipe or a device of that name is not touched.
//  - debuginfod is asked at most once, and its answer is kept.
// Not provided: protection from a file that is truncated while it is read (SIGBUS; worker.h confines that).
// Context:  one thread. Not movable: libdwfl keeps a pointer into it.
#pragma once

#include "cli/model/profile/recording.h"
#include "cli/symbolize/debug_index.h"
#include "cli/symbolize/unit_index.h"

#include <elfutils/libdwfl.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace heapprof::cli {

enum class DebugFileState { kOpen, kMissing, kNotElf, kChanged };

// Where debug files are searched, other than next to the file.
struct DebugSources {
  std::string folders;                // like gdb's debug-file-directory, colon-separated; empty: /usr/lib/debug
  const DebugIndex* index = nullptr;  // the debug files in folders that the user named; may be null
};

bool has_debuginfod_servers();  // whether the environment names some

class DebugFile {
 public:
  DebugFile(const Module& module, const DebugSources& sources);
  ~DebugFile();
  DebugFile(const DebugFile&) = delete;
  DebugFile& operator=(const DebugFile&) = delete;

  DebugFileState state() const { return state_; }
  Dwfl_Module* module() const { return module_; }  // not null if open

  // debuginfod's answer as errno; 0: it sent a file. nullopt: it was not asked so far, because it is asked on demand.
  std::optional<int> debuginfod_answer() const { return debuginfod_answer_; }
  // The separate debug file that was opened; empty: none was opened so far.
  std::string debug_path() const;

  // Whether the module's own file states that it has debug information, readable or not.
  bool has_own_debug_info() const;
  // The paths at which a separate debug file would be found, other than in the user's folders and by debuginfod. Empty:
  // one of these paths has a file, or the module's own file was not opened, or its path is relative.
  std::vector<std::string> sought_paths() const;

  // Null if there is no debug information. address in the DWARF = svma − bias.
  Dwarf* dwarf(Dwarf_Addr* bias) const;

  // The ranges of the file's code, in svma.
  std::vector<AddressRange> executable() const;

  // The same by sections, which, unlike segments, end where their code ends; empty if the file has no section table.
  std::vector<AddressRange> code_sections() const;

 private:
  bool open(const Module& module);
  bool report(const Module& module, const std::string& path, UniqueFd file);
  UniqueFd find_alone(const std::string& build_id, std::string* path);
  UniqueFd ask_debuginfod(const std::string& build_id);
  int search_folders(const char* name, Dwarf_Addr base, const char* file_name, const char* link_name,
                     GElf_Word link_crc, char** path) const;
  int find_debuginfo(void** user, const char* name, Dwarf_Addr base, const char* file_name, const char* link_name,
                     GElf_Word link_crc, char** path);
  friend struct DebugFileCallbacks;

  const DebugSources& sources_;
  std::string build_id_;
  std::string folders_;
  char* folders_pointer_ = nullptr;
  Dwfl_Callbacks callbacks_{};
  Dwfl* dwfl_ = nullptr;
  Dwfl_Module* module_ = nullptr;
  DebugFileState state_ = DebugFileState::kMissing;
  std::string path_;  // path of the module's own file
  bool has_own_debug_info_ = false;
  std::string alone_path_;  // path of a debug file that is used instead of the module's own file
  std::optional<int> debuginfod_answer_;
};

}  // namespace heapprof::cli
