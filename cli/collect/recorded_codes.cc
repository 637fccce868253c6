// cli/collect/recorded_codes.cc: what the agent said of a code object stays in the arena, so it is read at the end, and
// only of those that are in a stack.
#include "cli/collect/recorded_codes.h"

#include "shared/python.h"

#include <cstring>
#include <utility>

namespace heapprof::cli {

namespace {

constexpr uint64_t kAnyFrame = wire::pack_python_frame(0x12345, 0x6789abcd);
static_assert(is_python_frame(kAnyFrame) && python_code_number(kAnyFrame) == 0x12345 &&
              python_offset_bytes(kAnyFrame) == 0x6789abcd);

bool read_code(const unsigned char* codes, uint32_t number, PythonCode* code) {
  const auto* index = reinterpret_cast<const uint64_t*>(codes);
  const uint64_t at = __atomic_load_n(index + (number - 1), __ATOMIC_ACQUIRE);  // (O)
  const uint64_t offset = at >> 32, bytes = at & 0xffffffff;
  wire::CodeEntry entry;
  if (bytes < sizeof entry || offset + bytes > wire::kCodeTextBytes) return false;
  const unsigned char* from = codes + wire::kMaxCodes * sizeof(uint64_t) + offset;
  std::memcpy(&entry, from, sizeof entry);
  if (sizeof entry + uint64_t{entry.file_bytes} + entry.function_bytes + entry.table_bytes > bytes) return false;
  from += sizeof entry;
  const auto take = [&from](size_t length) {
    std::string text(reinterpret_cast<const char*>(from), length);
    from += length;
    return text;
  };
  code->file = take(entry.file_bytes);
  code->function = take(entry.function_bytes);
  code->table = take(entry.table_bytes);
  code->first_line = entry.first_line;
  code->minor = entry.minor;
  return true;
}

}  // namespace

PythonCodes recorded_codes(Arena* arena, const std::vector<Location>& locations) {
  PythonCodes codes;
  const unsigned char* mapped = nullptr;
  for (const Location& location : locations) {
    if (location.module != kNoModule || !is_python_frame(location.svma)) continue;
    const uint32_t number = python_code_number(location.svma);
    if (number == 0 || number > wire::kMaxCodes || codes.count(number) != 0) continue;
    if (mapped == nullptr) mapped = arena->codes();
    PythonCode code;
    if (mapped != nullptr && read_code(mapped, number, &code)) codes.emplace(number, std::move(code));
  }
  return codes;
}

}  // namespace heapprof::cli
