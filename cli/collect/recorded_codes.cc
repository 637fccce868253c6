// cli/collect/recorded_codes.cc: reads the agent's descriptions of code objects. They stay in the arena, so they are
// read at the end, and only for code objects that are in a stack.
#include "cli/collect/recorded_parts.h"
#include "cli/collect/rings/python_lines.h"

#include <utility>

namespace heapprof::cli {

PythonCodes recorded_codes(Arena* arena, const std::vector<Location>& locations) {
  PythonCodes codes;
  const unsigned char* mapped = nullptr;
  for (const Location& location : locations) {
    if (location.module != kNoModule || !is_python_frame(location.svma)) continue;
    const uint32_t number = python_code_number(location.svma);
    if (codes.count(number) != 0) continue;
    if (mapped == nullptr) mapped = arena->codes();
    PythonCode code;
    if (mapped != nullptr && read_code(mapped, number, &code)) codes.emplace(number, std::move(code));
  }
  return codes;
}

}  // namespace heapprof::cli
