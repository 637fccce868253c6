// cli/symbolize/python_names.cc: see python_names.h. Instructions of one line are one frame, because frames of Python
// have no address.
#include "cli/symbolize/python_names.h"

#include "cli/model/profile/python_code.h"

namespace heapprof::cli {

void add_python_names(Recording* recording, SymbolTable* table) {
  std::vector<Location>& locations = recording->locations;
  const auto module = static_cast<uint32_t>(recording->modules.size());
  bool has_any = false;
  for (size_t i = 0; i < locations.size(); ++i) {
    Location& location = locations[i];
    if (location.module != kNoModule || !is_python_frame(location.svma)) continue;
    const auto known = recording->python_codes.find(python_code_number(location.svma));
    SourceFrame frame{kUnknownPython, "", 0, false};
    if (known != recording->python_codes.end()) {
      const PythonCode& code = known->second;
      frame = {code.function.empty() ? "?" : code.function, code.file,
               line_of(code, python_offset_bytes(location.svma)), false};
    }
    table->frames.resize(locations.size());
    table->frames[i] = {frame};
    location.module = module;
    location.svma = 0;
    has_any = true;
  }
  if (has_any) recording->modules.emplace_back().path = kPythonModule;
}

}  // namespace heapprof::cli
