// cli/symbolize/module_names_bytes.cc: ModuleNames as bytes. The writer is a child of this program, but it has read
// untrusted files, so the reader checks every length.
//
//   u32 state | u32 flags | u32 debuginfod | u32 strings | { u32 size, bytes }… | u32 addresses | { u64 function, u64
//   target, chain }… | u32 pairs | { u64 outer, u64 inner, u32 calls, { u64 svma, chain }… }…
//
// A chain is u32 frames | { u32 function, u32 file, u32 line, u32 inlined }….
// debuginfod: 0 if it was not asked, else its answer plus one. The last two strings are the debug file's path and the
// missing file's.
#include "cli/symbolize/byte_codec.h"
#include "cli/symbolize/module_names.h"

#include <unordered_map>

namespace heapprof::cli {
namespace {

constexpr uint32_t kMostErrno = 4096;

enum Flags : uint32_t { kHasDebugInfo = 1, kHasSymbols = 2 };

bool read_frames(ByteReader* reader, const std::vector<std::string>& strings, std::vector<SourceFrame>* frames) {
  uint32_t count = 0;
  if (!reader->number(&count) || !reader->has_room(count, 16)) return false;
  frames->resize(count);
  for (SourceFrame& frame : *frames) {
    uint32_t function = 0;
    uint32_t file = 0;
    uint32_t inlined = 0;
    if (!reader->number(&function) || !reader->number(&file) || !reader->number(&frame.line) ||
        !reader->number(&inlined) || function >= strings.size() || file >= strings.size()) {
      return false;
    }
    frame.function = strings[function];
    frame.file = strings[file];
    frame.inlined = inlined != 0;
  }
  return true;
}

bool read_inferred(ByteReader* reader, const std::vector<std::string>& strings, InferredCalls* inferred) {
  uint32_t pairs = 0;
  if (!reader->number(&pairs) || !reader->has_room(pairs, 20)) return false;
  for (uint32_t i = 0; i < pairs; ++i) {
    CallPair pair;
    uint32_t count = 0;
    if (!reader->wide_number(&pair.outer_svma) || !reader->wide_number(&pair.inner_svma) || !reader->number(&count) ||
        !reader->has_room(count, 12)) {
      return false;
    }
    InferredPath path(count);
    for (InferredCall& call : path)
      if (!reader->wide_number(&call.svma) || call.svma == 0 || !read_frames(reader, strings, &call.frames) ||
          call.frames.empty())
        return false;
    inferred->insert_or_assign(pair, std::move(path));
  }
  return true;
}

}  // namespace

std::string encode(const ModuleNames& names) {
  std::unordered_map<std::string, size_t> numbers;
  std::vector<const std::string*> strings;
  auto number_of = [&](const std::string& text) {
    auto [entry, is_new] = numbers.try_emplace(text, strings.size());
    if (is_new) strings.push_back(&entry->first);
    return entry->second;
  };
  ByteWriter frames;
  const auto put_chain = [&](const std::vector<SourceFrame>& chain) {
    frames.number(chain.size());
    for (const SourceFrame& frame : chain) {
      frames.number(number_of(frame.function));
      frames.number(number_of(frame.file));
      frames.number(frame.line);
      frames.number(frame.inlined ? 1 : 0);
    }
  };
  frames.number(names.frames.size());
  for (size_t i = 0; i < names.frames.size(); ++i) {
    const CallKeys call = i < names.calls.size() ? names.calls[i] : CallKeys();
    frames.wide_number(call.function);
    frames.wide_number(call.target);
    put_chain(names.frames[i]);
  }
  frames.number(names.inferred.size());
  for (const auto& [pair, path] : names.inferred) {
    frames.wide_number(pair.outer_svma);
    frames.wide_number(pair.inner_svma);
    frames.number(path.size());
    for (const InferredCall& call : path) {
      frames.wide_number(call.svma);
      put_chain(call.frames);
    }
  }
  ByteWriter head;
  head.number(static_cast<size_t>(names.state));
  head.number((names.has_debug_info ? kHasDebugInfo : 0u) | (names.has_symbols ? kHasSymbols : 0u));
  head.number(names.debuginfod_answer ? static_cast<size_t>(*names.debuginfod_answer) + 1 : 0);
  head.number(strings.size() + 2);
  for (const std::string* text : strings) head.text(*text);
  head.text(names.debug_path);
  head.text(names.missing_file);
  head.number(names.sought_paths.size());
  for (const std::string& path : names.sought_paths) head.text(path);
  return head.take() + frames.take();
}

bool decode(const std::string& bytes, ModuleNames* names) {
  ByteReader reader(bytes);
  uint32_t state = 0;
  uint32_t flags = 0;
  uint32_t answer = 0;
  uint32_t count = 0;
  if (!reader.number(&state) || !reader.number(&flags) || !reader.number(&answer) || !reader.number(&count))
    return false;
  if (state > static_cast<uint32_t>(DebugFileState::kChanged) || count < 2 || !reader.has_room(count, 4)) return false;
  if (answer > kMostErrno) return false;
  std::vector<std::string> strings(count);
  for (std::string& text : strings) {
    if (!reader.text(&text)) return false;
  }
  names->missing_file = std::move(strings.back());
  strings.pop_back();
  names->debug_path = std::move(strings.back());
  strings.pop_back();
  if (!reader.number(&count) || !reader.has_room(count, 4)) return false;
  names->sought_paths.resize(count);
  for (std::string& path : names->sought_paths) {
    if (!reader.text(&path)) return false;
  }
  if (answer != 0) names->debuginfod_answer = static_cast<int>(answer) - 1;
  if (!reader.number(&count) || !reader.has_room(count, 20)) return false;
  names->state = static_cast<DebugFileState>(state);
  names->has_debug_info = (flags & kHasDebugInfo) != 0;
  names->has_symbols = (flags & kHasSymbols) != 0;
  names->frames.resize(count);
  names->calls.resize(count);
  for (size_t i = 0; i < count; ++i) {
    CallKeys& call = names->calls[i];
    if (!reader.wide_number(&call.function) || !reader.wide_number(&call.target)) return false;
    if (!read_frames(&reader, strings, &names->frames[i])) return false;
  }
  return read_inferred(&reader, strings, &names->inferred) && reader.at_end();
}

}  // namespace heapprof::cli
