// cli/collect/rings/python_lines.cc: see python_lines.h; the arena's code objects are laid out as in shared/python.h.
#include "cli/collect/rings/python_lines.h"

#include "shared/python.h"

#include <cstring>
#include <utility>

namespace heapprof::cli {

namespace {

constexpr uint64_t kAnyFrame = wire::pack_python_frame(0x12345, 0x6789abcd);
static_assert(is_python_frame(kAnyFrame) && python_code_number(kAnyFrame) == 0x12345 &&
              python_offset_bytes(kAnyFrame) == 0x6789abcd);

}  // namespace

bool read_code(const unsigned char* codes, uint32_t number, PythonCode* code) {
  if (number == 0 || number > wire::kMaxCodes) return false;
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

uint64_t PythonLines::first_of_line(uint64_t frame) {
  Known* const known = code_of(python_code_number(frame));
  if (known == nullptr) return frame;
  const uint64_t key =
      uint64_t{known->function} << 32 | line_of(known->code, python_offset_bytes(frame), &known->cursor);
  return lines_.try_emplace(key, frame).first->second;
}

PythonLines::Known* PythonLines::code_of(uint32_t number) {
  const auto [at, is_new] = known_.try_emplace(number);
  std::optional<Known>& known = at->second;
  if (!is_new) return known ? &*known : nullptr;
  const unsigned char* const codes = codes_();
  PythonCode code;
  if (codes == nullptr || !read_code(codes, number, &code)) return nullptr;
  const std::string function = code.file + '\0' + code.function;
  const uint32_t index = functions_.try_emplace(function, static_cast<uint32_t>(functions_.size())).first->second;
  known = Known{std::move(code), index, {}};
  return &*known;
}

}  // namespace heapprof::cli
