// tests/unit/symbolize/test_programs.h: the programs of programs/, run for their return addresses, and what they must
// be called.
#pragma once

#include "cli/model/profile/recording.h"
#include "cli/symbolize/symbolizer.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace test {

namespace cli = heapprof::cli;
namespace fs = std::filesystem;

// A name as frames are compared: the function, and the line's marker in the source.
struct Expected {
  std::string function;
  std::string marker;
  bool inlined = false;
};

// The frames of shapes.cc by the word that record() was called with, innermost first.
const std::map<std::string, std::vector<Expected>>& shapes_frames();

// SYMBOLIZE_NAMES and the like, split.
std::vector<std::string> split(const std::string& names);
fs::path program(const std::string& name);

// The line of a source in programs/ that ends in "line:MARKER"; 0 if there is none.
uint32_t line_of(const std::string& source, const std::string& marker);
std::string source_path(const std::string& source);

// Runs the program; return addresses in the file by the word that record() was called with.
std::map<std::string, uint64_t> recorded(const fs::path& program);

bool shell(const std::string& command);
bool has_tool(const std::string& name);

struct Symbolized {
  std::map<std::string, std::vector<cli::SourceFrame>> frames;  // by word
  cli::SymbolizeReport report;
};
Symbolized symbolize_file(const cli::Module& module, const std::map<std::string, uint64_t>& addresses,
                          const std::string& debug_folders = {});
Symbolized symbolize_file(const fs::path& file, const std::map<std::string, uint64_t>& addresses,
                          const std::string& debug_folders = {});

// Checks all of shapes_frames() but with functions, files and lines as in the source.
void check_shapes(const Symbolized& found);

// A folder that is removed at the end.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const fs::path& path() const { return path_; }
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

}  // namespace test
