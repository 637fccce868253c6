// cli/symbolize/debug_file.h: one module's ELF file, opened for its symbols and debug information, wherever that is
// kept.
//
// Finds separate debug files by build id and .gnu_debuglink, dwz supplements, .gnu_debugdata, and asks debuginfod if
// DEBUGINFOD_URLS is set: all of it libdwfl's work. .dwp files need elfutils 0.192; .dwo files are found by all.
//
// Guarantees
//  - The file is the one that was loaded: a different build id, or none where there was one, gives kChanged and nothing
//    else.
//  - Only regular files are opened: a pipe or a device of that name is not touched.
// Not provided: protection from a file that is truncated while it is read (SIGBUS; worker.h holds that off).
// Context:  one thread. Not movable: libdwfl keeps a pointer into it.
#pragma once

#include "cli/model/profile/recording.h"
#include "cli/symbolize/unit_index.h"

#include <elfutils/libdwfl.h>

#include <memory>
#include <string>
#include <vector>

namespace heapprof::cli {

enum class DebugFileState { kOpen, kMissing, kNotElf, kChanged };

class DebugFile {
 public:
  // debug_folders: like gdb's debug-file-directory, colon-separated; empty: /usr/lib/debug.
  DebugFile(const Module& module, const std::string& debug_folders);
  ~DebugFile();
  DebugFile(const DebugFile&) = delete;
  DebugFile& operator=(const DebugFile&) = delete;

  DebugFileState state() const { return state_; }
  Dwfl_Module* module() const { return module_; }  // not null if open

  // Null if there is no debug information. address in the DWARF = svma − bias.
  Dwarf* dwarf(Dwarf_Addr* bias) const;

  // Where the file's code lies, in svma.
  std::vector<AddressRange> executable() const;

  // The same by sections, which end where their code ends, as segments do not; empty if the file has no section table.
  std::vector<AddressRange> code_sections() const;

 private:
  bool open(const Module& module);

  std::string folders_;
  char* folders_pointer_ = nullptr;
  Dwfl_Callbacks callbacks_{};
  Dwfl* dwfl_ = nullptr;
  Dwfl_Module* module_ = nullptr;
  DebugFileState state_ = DebugFileState::kMissing;
};

}  // namespace heapprof::cli
