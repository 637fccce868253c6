// cli/collect/memory/memory_budget.cc: notices a limit before it is reached.
//
// When a limit is reached, there is no error to handle: the kernel's out-of-memory killer ends a process, and a failed
// allocation inside a library ends it too. So the collector checks every few milliseconds whether the remaining memory
// is still enough for writing its profiles, and stops recording while it still is.
//
// The limits count different things. --max-memory limits heapprof's own resident pages, ulimit its address space, and a
// control group all of its processes, including the program. Reclaimable file pages are not counted against a group, as
// the kernel reclaims them before it kills.
#include "cli/collect/memory/memory_budget.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string_view>

namespace heapprof::cli {

namespace {

constexpr uint64_t kNoLimitFrom = 1ull << 60;  // version 1 writes "none" as the largest multiple of a page
constexpr uint64_t kGroupShare = 8;
constexpr int kMostGroups = 64;

UniqueFd open_file(const std::string& path) { return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)); }

std::string read_again(const UniqueFd& file) {
  if (!file.is_open()) return {};
  char text[8192];
  const ssize_t bytes = ::pread(file.get(), text, sizeof text, 0);
  return bytes > 0 ? std::string(text, static_cast<size_t>(bytes)) : std::string();
}

std::optional<uint64_t> number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;  // "max"
  return value;
}

// The number of a line "KEY NUMBER"; 0 if there is no such line.
uint64_t value_of(const std::string& text, const std::string& key) {
  const std::string wanted = "\n" + key + " ";
  const std::string lines = "\n" + text;
  const size_t at = lines.find(wanted);
  return at == std::string::npos ? 0 : number(std::string_view(lines).substr(at + wanted.size())).value_or(0);
}

// mountinfo writes blanks as \040.
std::string unescaped(const std::string& text) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 4, "\\040") == 0) {
      plain += ' ';
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

bool has_word(const std::string& list, const std::string& word) {
  return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

bool leaves_too_little(uint64_t limit_bytes, uint64_t used_bytes, uint64_t needed_bytes) {
  return used_bytes >= limit_bytes || limit_bytes - used_bytes < needed_bytes;
}

std::optional<uint64_t> own_limit(__rlimit_resource resource) {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return limit.rlim_cur;
}

}  // namespace

bool is_memory_limited() { return own_limit(RLIMIT_AS) || own_limit(RLIMIT_DATA); }

MemoryBudget::MemoryBudget(uint64_t max_bytes, const std::string& root)
    : max_bytes_(max_bytes),
      page_bytes_(static_cast<uint64_t>(::sysconf(_SC_PAGESIZE))),
      statm_(open_file(root + "/proc/self/statm")) {
  find_groups(root);
}

// /proc/self/cgroup says the group of this process: "4:memory:/a/b" (version 1) or "0::/a/b" (version 2).
// /proc/self/mountinfo says where these trees are mounted, and which group is the root of each mount; in a container
// this may be the container's own group.
void MemoryBudget::find_groups(const std::string& root) {
  std::string group_v1, group_v2;
  std::ifstream own(root + "/proc/self/cgroup");
  for (std::string line; std::getline(own, line);) {
    const size_t first = line.find(':');
    const size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (controllers.empty()) group_v2 = line.substr(second + 1);
    if (has_word(controllers, "memory")) group_v1 = line.substr(second + 1);
  }
  std::ifstream mounts(root + "/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string id, parent, device, top, mount_point, word, type, source, options;
    words >> id >> parent >> device >> top >> mount_point;
    while (words >> word && word != "-") {
    }
    words >> type >> source >> options;
    const bool is_v2 = type == "cgroup2";
    if (!is_v2 && (type != "cgroup" || !has_word(options, "memory"))) continue;
    std::string group = is_v2 ? group_v2 : group_v1;
    if (group.empty()) continue;
    top = unescaped(top);
    if (top != "/") group = group.starts_with(top) ? group.substr(top.size()) : "";
    if (group.find("..") != std::string::npos) group.clear();
    add_groups(root + unescaped(mount_point), group, is_v2);
  }
}

void MemoryBudget::add_groups(const std::string& mount_point, std::string group, bool is_v2) {
  for (int count = 0; count < kMostGroups; ++count) {
    while (!group.empty() && group.back() == '/') group.pop_back();
    const std::string folder = mount_point + group + "/memory.";
    Group found{open_file(folder + (is_v2 ? "max" : "limit_in_bytes")),
                {},
                {},
                {},
                is_v2 ? "inactive_file" : "total_inactive_file"};
    if (is_v2) found.soft_limit = open_file(folder + "high");
    found.used = open_file(folder + (is_v2 ? "current" : "usage_in_bytes"));
    found.stat = open_file(folder + "stat");
    if (found.limit.is_open() && found.used.is_open()) groups_.push_back(std::move(found));
    if (group.empty()) return;
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

std::optional<uint64_t> MemoryBudget::group_limit(const Group& group) {
  const std::optional<uint64_t> hard = number(read_again(group.limit));
  const std::optional<uint64_t> soft = number(read_again(group.soft_limit));
  const uint64_t limit_bytes = std::min(hard.value_or(UINT64_MAX), soft.value_or(UINT64_MAX));
  if (limit_bytes >= kNoLimitFrom) return std::nullopt;
  return limit_bytes;
}

uint64_t MemoryBudget::group_use(const Group& group) {
  const uint64_t used_bytes = number(read_again(group.used)).value_or(0);
  const uint64_t cache_bytes = value_of(read_again(group.stat), group.cache_key);
  return used_bytes > cache_bytes ? used_bytes - cache_bytes : 0;
}

MemoryBudget::OwnUse MemoryBudget::own_use() const {
  std::istringstream text(read_again(statm_));
  uint64_t size = 0, resident = 0, shared = 0, code = 0, library = 0, data = 0;
  text >> size >> resident >> shared >> code >> library >> data;
  const uint64_t own = resident > shared ? resident - shared : 0;
  return {size * page_bytes_, own * page_bytes_, data * page_bytes_};
}

std::optional<MemoryShortage> MemoryBudget::shortage(const MemoryNeed& need) const {
  const OwnUse use = own_use();
  if (max_bytes_ != 0 && leaves_too_little(max_bytes_, use.resident_bytes, need.finish_bytes))
    return MemoryShortage{"--max-memory", max_bytes_};
  if (const auto limit = own_limit(RLIMIT_AS);
      limit && leaves_too_little(*limit, use.address_space_bytes, need.finish_bytes))
    return MemoryShortage{"ulimit -v", *limit};
  if (const auto limit = own_limit(RLIMIT_DATA); limit && leaves_too_little(*limit, use.data_bytes, need.finish_bytes))
    return MemoryShortage{"ulimit -d", *limit};
  for (const Group& group : groups_) {
    const std::optional<uint64_t> limit = group_limit(group);
    if (!limit || need.freeable_bytes < *limit / kGroupShare) continue;
    if (leaves_too_little(*limit, group_use(group), need.finish_bytes))
      return MemoryShortage{"the control group", *limit};
  }
  return std::nullopt;
}

}  // namespace heapprof::cli
