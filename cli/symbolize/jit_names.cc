// cli/symbolize/jit_names.cc: a map of JIT code is a log in a folder that all may write to.
//
// Compilers append a line for every function that they make, and an address may have had several: the last one counts.
// The file may be large (a line for each function that node ever compiled), and few addresses are needed. So the
// addresses are sorted first, the file is read once, line by line, and only the requested names are kept.
//
// /tmp/perf-PID.map may be left over from a process with the same pid, or be planted: it must be a regular file of this
// user (or root), not reached by a link, and written since the process began.
#include "cli/symbolize/jit_names.h"

#include "cli/base/fd.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <memory>
#include <utility>
#include <vector>

namespace heapprof::cli {

namespace {

constexpr size_t kLongestLine = 4096;            // bytes; the rest is not part of the name
constexpr uint64_t kLargestFunction = 1u << 30;  // bytes

struct Line {
  uint64_t start_avma;
  uint64_t size_bytes;
  std::string_view name;
};

bool take_number(std::string_view* text, uint64_t* number) {
  if (text->starts_with("0x")) text->remove_prefix(2);  // Java writes it
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), *number, 16);
  if (error != std::errc() || end == text->data() + text->size() || *end != ' ') return false;
  text->remove_prefix(static_cast<size_t>(end - text->data()) + 1);
  return true;
}

bool parse(std::string_view text, Line* line) {
  if (!take_number(&text, &line->start_avma) || !take_number(&text, &line->size_bytes)) return false;
  line->name = text;
  return !text.empty();
}

// The map that the collector opened, and whose owner it checked. Removes it from the modules.
std::shared_ptr<UniqueFd> take_own_map(Recording* recording) {
  std::vector<Module>& modules = recording->modules;
  if (modules.empty() || modules.back().path != "[JIT]" || modules.back().file == nullptr) return nullptr;
  std::shared_ptr<UniqueFd> map = std::move(modules.back().file);
  modules.pop_back();
  ::lseek(map->get(), 0, SEEK_SET);
  return map;
}

// Accepts a regular file of this user, written since the process began: maps are not deleted, and process ids are
// reused.
JitMap judge(int fd, bool is_of_process, int64_t start_unix_ns) {
  struct stat facts {};
  if (::fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode)) return JitMap::kRefused;
  if (!is_of_process && facts.st_uid != ::geteuid() && facts.st_uid != 0) return JitMap::kRefused;
  constexpr int64_t kSlackS = 60;  // clocks of file systems differ, and processes wait for heapprof
  return facts.st_mtim.tv_sec < start_unix_ns / 1'000'000'000 - kSlackS ? JitMap::kNone : JitMap::kRead;
}

// Lines of a file; long ones are cut.
class LineReader {
 public:
  explicit LineReader(int fd) : fd_(fd) {}

  bool next(std::string* line) {
    line->clear();
    for (bool has_any = false;;) {
      const std::string_view unread(buffer_.data() + begin_, end_ - begin_);
      const size_t length = std::min(unread.find('\n'), unread.size());
      line->append(unread.substr(0, std::min(length, kLongestLine - line->size())));
      begin_ += length + 1;
      if (length != unread.size()) return true;
      has_any = has_any || !unread.empty();
      const ssize_t count = ::read(fd_, buffer_.data(), buffer_.size());
      begin_ = end_ = 0;
      if (count <= 0) return has_any;
      end_ = static_cast<size_t>(count);
    }
  }

 private:
  int fd_;
  std::array<char, kLongestLine> buffer_{};
  size_t begin_ = 0;
  size_t end_ = 0;
};

// A location without a module, by the address of the call.
struct Wanted {
  uint64_t call_avma;
  size_t location;
};

std::vector<Wanted> find_wanted(const std::vector<Location>& locations) {
  std::vector<Wanted> wanted;
  for (size_t i = 0; i < locations.size(); ++i) {
    if (locations[i].module == kNoModule && locations[i].svma != 0) wanted.push_back({locations[i].svma - 1, i});
  }
  std::sort(wanted.begin(), wanted.end(), [](const Wanted& a, const Wanted& b) { return a.call_avma < b.call_avma; });
  return wanted;
}

}  // namespace

std::string jit_map_path(uint64_t pid) { return "/tmp/perf-" + std::to_string(pid) + ".map"; }

SourceFrame jit_frame(std::string_view name) {
  SourceFrame frame{std::string(name), "", 0, false};
  if (name.starts_with("py::")) {  // py::function:/folder/file.py
    const size_t colon = name.find(':', 4);
    if (colon == name.npos || name.substr(colon + 1, 1) != "/") return frame;
    return {std::string(name.substr(0, colon)), std::string(name.substr(colon + 1)), 0, false};
  }
  // V8: KIND:TIERfunction source:line:column
  const size_t colon = name.find(':');
  constexpr std::array<std::string_view, 5> kKinds = {"JS", "LazyCompile", "Function", "Script", "Eval"};
  if (colon == name.npos || std::find(kKinds.begin(), kKinds.end(), name.substr(0, colon)) == kKinds.end())
    return frame;
  std::string_view rest = name.substr(colon + 1);
  if (!rest.empty() && std::string_view("~^+*").find(rest[0]) != std::string_view::npos) rest.remove_prefix(1);
  size_t space = rest.find(" /");  // both a name and a path may have blanks
  if (space == rest.npos) space = rest.rfind(' ');
  if (space == rest.npos) return frame;
  std::string_view source = rest.substr(space + 1);
  uint32_t numbers[2] = {0, 0};  // the column, the line
  for (uint32_t& number : numbers) {
    const size_t at = source.rfind(':');
    if (at == source.npos) return frame;
    const auto [end, error] = std::from_chars(source.data() + at + 1, source.data() + source.size(), number);
    if (error != std::errc() || end != source.data() + source.size()) return frame;
    source = source.substr(0, at);
  }
  const std::string_view function = rest.substr(0, space);
  return {"JS:" + std::string(function.empty() ? "anonymous" : function), std::string(source), numbers[1], false};
}

JitMap add_jit_names(const std::string& map_path, Recording* recording, SymbolTable* table) {
  std::vector<Location>& locations = recording->locations;
  const std::vector<Wanted> wanted = find_wanted(locations);
  const std::shared_ptr<UniqueFd> own_map = take_own_map(recording);
  if (wanted.empty()) return JitMap::kNone;
  UniqueFd named_map;
  if (own_map == nullptr) {
    named_map = UniqueFd(::open(map_path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    if (!named_map.is_open()) return errno == ENOENT ? JitMap::kNone : JitMap::kRefused;
  }
  const UniqueFd& fd = own_map == nullptr ? named_map : *own_map;
  if (const JitMap state = judge(fd.get(), own_map != nullptr, recording->run.start_unix_ns); state != JitMap::kRead)
    return state;

  std::vector<std::string> names(wanted.size());
  LineReader reader(fd.get());
  for (std::string text; reader.next(&text);) {
    Line line{};
    if (!parse(text, &line)) continue;
    auto at = std::lower_bound(wanted.begin(), wanted.end(), line.start_avma,
                               [](const Wanted& a, uint64_t avma) { return a.call_avma < avma; });
    if (line.size_bytes > kLargestFunction) continue;
    for (; at != wanted.end() && at->call_avma - line.start_avma < line.size_bytes; ++at) {
      names[static_cast<size_t>(at - wanted.begin())] = line.name;
    }
  }

  table->frames.resize(locations.size());
  bool has_any = false;
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (names[i].empty()) continue;
    table->frames[wanted[i].location] = {jit_frame(names[i])};
    locations[wanted[i].location].module = static_cast<uint32_t>(recording->modules.size());
    has_any = true;
  }
  if (has_any) recording->modules.emplace_back().path = "[JIT]";
  return JitMap::kRead;
}

}  // namespace heapprof::cli
