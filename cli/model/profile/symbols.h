// cli/model/profile/symbols.h: the names of a recording's locations, as cli/symbolize finds them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// One source-level frame. A location has one, or several where functions were inlined: innermost first.
struct SourceFrame {
  std::string function;  // demangled; empty: unknown
  std::string file;      // absolute by its compilation directory, without . and .. parts; empty: unknown
  uint32_t line = 0;     // 0: unknown
  bool inlined = false;  // this frame was inlined into the next one
};

// frames[i] belongs to Recording::locations[i]; empty: only module and address are known.
struct SymbolTable {
  std::vector<std::vector<SourceFrame>> frames;
};

}  // namespace heapprof::cli
