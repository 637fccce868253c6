// cli/merge/step_folder.cc: a folder of profiles may be local to a node, or shared by nodes, and nothing says which. So
// each process lists what it sees: a file's size, time of last change (in ns) and inode are the same from every node,
// and two files differ in at least one. A file that several processes see is given to one of them.
#include "cli/merge/step_folder.h"

#include "cli/base/atomic_file.h"
#include "cli/base/clock.h"
#include "cli/base/fd.h"
#include "cli/base/problems.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <string_view>

namespace heapprof::cli {
namespace {

constexpr size_t kMostTextBytes = 256 << 20;
constexpr uint64_t kFanIn = 8;  // of hosts
constexpr std::string_view kListHead = "heapprof-list-1";
constexpr std::string_view kPlanHead = "heapprof-plan-1";

// Words of a text, by blanks and ends of lines.
class Words {
 public:
  explicit Words(std::string_view text) : rest_(text) {}

  std::string_view next() {
    const size_t begin = rest_.find_first_not_of(" \n");
    if (begin == std::string_view::npos) return {};
    rest_.remove_prefix(begin);
    const std::string_view word = rest_.substr(0, rest_.find_first_of(" \n"));
    rest_.remove_prefix(word.size());
    return word;
  }
  template <typename Number>
  bool read(Number* number) {
    const std::string_view word = next();
    const char* const end = word.data() + word.size();
    const auto parsed = std::from_chars(word.data(), end, *number);
    return !word.empty() && parsed.ec == std::errc() && parsed.ptr == end;
  }

 private:
  std::string_view rest_;
};

}  // namespace

Result<Done> StepFolder::make() const {
  std::error_code error;
  std::filesystem::create_directories(path_, error);
  if (error) return output_not_writable(path_, error.message());
  return Done{};
}

Result<Done> StepFolder::write(const std::string& name, const std::string& text) const {
  Result<AtomicFile> created = AtomicFile::create(file(name));
  if (!created) return created.problem();
  created->write(text);
  const Result<std::string> path = created->commit();
  if (!path) return path.problem();
  return Done{};
}

std::optional<std::string> StepFolder::read(const std::string& name) const {
  const UniqueFd fd(open(file(name).c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd.is_open()) return std::nullopt;
  std::string text;
  std::string buffer(64 << 10, '\0');
  for (;;) {
    const ssize_t got = ::read(fd.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return std::nullopt;
    if (got == 0) return text;
    text.append(buffer, 0, static_cast<size_t>(got));
    if (text.size() > kMostTextBytes) return std::nullopt;
  }
}

std::optional<std::string> StepFolder::wait(const std::string& name, uint64_t until_ns) const {
  constexpr uint64_t kShortestNs = 2'000'000;
  constexpr uint64_t kLongestNs = 200'000'000;
  for (uint64_t pause_ns = kShortestNs;; pause_ns = std::min(pause_ns * 2, kLongestNs)) {
    if (std::optional<std::string> text = read(name)) return text;
    if (access(path_.c_str(), F_OK) != 0) return std::nullopt;  // process 0 is done, and has removed it
    const uint64_t now_ns = monotonic_ns();
    if (now_ns >= until_ns) return std::nullopt;
    const uint64_t next_ns = std::min(pause_ns, until_ns - now_ns);
    const timespec time = {static_cast<time_t>(next_ns / 1'000'000'000), static_cast<long>(next_ns % 1'000'000'000)};
    nanosleep(&time, nullptr);
  }
}

void StepFolder::leave(const std::string& name) const {
  unlink(file(name).c_str());
  rmdir(path_.c_str());  // succeeds if it is empty
}

void StepFolder::remove(uint64_t processes) const {
  for (uint64_t process = 0; process < processes; ++process) {
    for (const char* name : {"list", "part", "done", "kept"}) unlink(file(fmt::format("{}.{}", name, process)).c_str());
  }
  for (const char* name : {"plan", "keep"}) unlink(file(name).c_str());
  rmdir(path_.c_str());
}

std::optional<FileMark> mark_of(const std::string& path) {
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) return std::nullopt;
  return FileMark{static_cast<uint64_t>(facts.st_size),
                  int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec, facts.st_ino};
}

std::string list_text(const StepList& list) {
  std::string text = fmt::format("{} {} {}\n", kListHead, list.host.empty() ? "-" : list.host, list.files.size());
  for (const FileMark& file : list.files)
    text += fmt::format("{} {} {}\n", file.size_bytes, file.modified_ns, file.inode);
  return text;
}

std::optional<StepList> parse_list(const std::string& text) {
  Words words(text);
  StepList list;
  if (words.next() != kListHead) return std::nullopt;
  list.host = words.next();
  size_t count = 0;
  if (!words.read(&count) || count > text.size()) return std::nullopt;
  for (size_t i = 0; i < count; ++i) {
    FileMark& file = list.files.emplace_back();
    if (!words.read(&file.size_bytes) || !words.read(&file.modified_ns) || !words.read(&file.inode))
      return std::nullopt;
  }
  return list;
}

std::vector<StepTask> make_plan(const std::vector<std::pair<uint64_t, StepList>>& lists) {
  std::vector<StepTask> plan;
  std::map<std::string, std::vector<size_t>> hosts;
  std::map<FileMark, std::vector<std::pair<size_t, uint64_t>>> seen;  // the process, and its index of the file
  for (size_t i = 0; i < lists.size(); ++i) {
    plan.push_back({lists[i].first, 0, 0, {}});
    hosts[lists[i].second.host].push_back(i);
    for (size_t file = 0; file < lists[i].second.files.size(); ++file)
      seen[lists[i].second.files[file]].push_back({i, file});
  }
  // Each file goes to the process that has the fewest so far, so that processes which see the same files get equal
  // numbers.
  std::vector<uint64_t> taken(lists.size());
  for (const auto& [mark, by] : seen) {
    const auto least = std::min_element(by.begin(), by.end(),
                                        [&](const auto& a, const auto& b) { return taken[a.first] < taken[b.first]; });
    ++taken[least->first];
    plan[least->first].files.push_back(least->second);
  }
  std::vector<size_t> leaders;
  for (const auto& [host, members] : hosts) leaders.push_back(members[0]);
  std::sort(leaders.begin(), leaders.end());  // process 0 is the first of its host, and of all
  for (size_t i = 1; i < leaders.size(); ++i) {
    const size_t above = leaders[(i - 1) / kFanIn];
    plan[leaders[i]].parent = plan[above].process;
    plan[leaders[i]].depth = plan[above].depth + 1;
  }
  for (const auto& [host, members] : hosts) {
    for (size_t i = 1; i < members.size(); ++i) {
      plan[members[i]].parent = plan[members[0]].process;
      plan[members[i]].depth = plan[members[0]].depth + 1;
    }
  }
  return plan;
}

std::string plan_text(const std::vector<StepTask>& plan) {
  std::string text = fmt::format("{} {}\n", kPlanHead, plan.size());
  for (const StepTask& task : plan) {
    text += fmt::format("{} {} {} {}", task.process, task.parent, task.depth, task.files.size());
    for (const uint64_t file : task.files) text += fmt::format(" {}", file);
    text += '\n';
  }
  return text;
}

std::optional<std::vector<StepTask>> parse_plan(const std::string& text) {
  Words words(text);
  std::vector<StepTask> plan;
  size_t tasks = 0;
  if (words.next() != kPlanHead || !words.read(&tasks) || tasks > text.size()) return std::nullopt;
  for (size_t i = 0; i < tasks; ++i) {
    StepTask& task = plan.emplace_back();
    size_t files = 0;
    if (!words.read(&task.process) || !words.read(&task.parent) || !words.read(&task.depth) || !words.read(&files) ||
        files > text.size())
      return std::nullopt;
    for (size_t k = 0; k < files; ++k) {
      if (!words.read(&task.files.emplace_back())) return std::nullopt;
    }
  }
  // Checks depths, so that no process is below itself, and following parents ends at process 0.
  std::map<uint64_t, uint64_t> depths;
  for (const StepTask& task : plan) {
    if (!depths.try_emplace(task.process, task.depth).second) return std::nullopt;
  }
  for (const StepTask& task : plan) {
    const auto parent = depths.find(task.parent);
    const bool is_root = task.process == 0;
    if (parent == depths.end() || (is_root ? task.parent != 0 || task.depth != 0 : task.depth != parent->second + 1))
      return std::nullopt;
  }
  return plan;
}

}  // namespace heapprof::cli
