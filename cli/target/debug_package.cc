// cli/target/debug_package.cc: asks package managers by file name.
//
// On Debian, /lib is a link to /usr/lib. A package may list /lib/x86_64-linux-gnu/libc.so.6, which is the loader's
// path, while the path without links begins with /usr. So all spellings are asked for at once. Debian has the symbols
// of a package P in P-dbgsym, in an archive that apt often does not know. The symbols of a few packages (libc6,
// python3.11) are in P-dbg, or in S-dbg, where S is P's source package.
#include "cli/target/debug_package.h"

#include "cli/base/clock.h"
#include "cli/base/fd.h"
#include "cli/base/spawn.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <vector>

namespace heapprof::cli {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostNs = 3'000'000'000;
constexpr size_t kMostOutputBytes = 4 << 20;

// What a program prints; nullopt if it cannot be started or takes too long. Its exit status does not matter, because
// dpkg-query also fails if only one of several paths belongs to no package.
std::optional<std::string> output_of(std::vector<std::string> words) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return std::nullopt;
  const UniqueFd from_child(ends[0]);
  UniqueFd to_parent(ends[1]);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, to_parent.get(), STDOUT_FILENO);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t pid = -1;
  const bool is_started =
      ::posix_spawnp(&pid, arguments[0], &actions, SpawnAttributes().get(), arguments.data(), environ) == 0;
  ::posix_spawn_file_actions_destroy(&actions);
  to_parent.reset();
  if (!is_started) return std::nullopt;
  std::string text;
  bool is_whole = false;
  for (const uint64_t start_ns = monotonic_ns();;) {
    const uint64_t elapsed_ns = monotonic_ns() - start_ns;
    if (elapsed_ns >= kMostNs || text.size() > kMostOutputBytes) break;
    pollfd ready{from_child.get(), POLLIN, 0};
    const int count = ::poll(&ready, 1, static_cast<int>((kMostNs - elapsed_ns) / 1'000'000) + 1);
    if (count < 0 && errno == EINTR) continue;
    char buffer[4096];
    const ssize_t got = count <= 0 ? 0 : ::read(from_child.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    is_whole = count > 0 && got == 0;
    if (got <= 0) break;
    text.append(buffer, static_cast<size_t>(got));
  }
  if (!is_whole) ::kill(pid, SIGKILL);
  while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (!is_whole) return std::nullopt;
  return text;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

// Whether the name has only characters that need no quotes in a shell command.
bool is_package_name(std::string_view name) {
  return !name.empty() && name[0] != '-' &&
         name.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-._") == name.npos;
}

// All paths of the file under which a package may list it.
std::vector<std::string> spellings(const std::string& path) {
  std::set<std::string> names = {path};
  std::error_code error;
  const std::string real = fs::canonical(path, error).string();
  if (!error) names.insert(real);
  for (const std::string& name : std::set<std::string>(names)) {
    if (name.starts_with("/usr/")) names.insert(name.substr(4));
    if (name.starts_with("/lib") || name.starts_with("/bin/") || name.starts_with("/sbin/"))
      names.insert("/usr" + name);
  }
  return {names.begin(), names.end()};
}

std::string debian_package(const std::vector<std::string>& names) {
  std::vector<std::string> words = {"dpkg-query", "--search", "--"};
  for (const std::string& name : names) words.push_back(name);
  const std::optional<std::string> text = output_of(std::move(words));
  if (!text) return {};
  for (const std::string_view line : lines_of(*text)) {  // "libc6:amd64, libc6:i386: /lib/x"
    for (const std::string& name : names) {
      if (!line.ends_with(": " + name)) continue;
      const std::string_view package = line.substr(0, line.find_first_of(":,"));
      if (is_package_name(package)) return std::string(package);
    }
  }
  return {};
}

// The source package that a package was built from: "python3.11" of python3.11-minimal.
std::string debian_source(const std::string& package) {
  const std::optional<std::string> text =
      output_of({"dpkg-query", "--show", "--showformat=${source:Package}\n", "--", package});
  const std::vector<std::string_view> lines = text ? lines_of(*text) : std::vector<std::string_view>();
  return !lines.empty() && is_package_name(lines[0]) ? std::string(lines[0]) : package;
}

// A package that apt knows with the symbols of this build id, else one that lists no build ids.
std::string debian_symbols(const std::string& package, const std::string& build_id) {
  const std::optional<std::string> text =
      output_of({"apt-cache", "show", package + "-dbgsym", package + "-dbg", debian_source(package) + "-dbg"});
  if (!text) return {};
  std::string name;
  std::string unsure;
  bool says_ids = false;
  const auto end_entry = [&] {
    if (!name.empty() && !says_ids && unsure.empty()) unsure = name;
    name.clear();
    says_ids = false;
  };
  for (const std::string_view line : lines_of(*text)) {
    if (line.starts_with("Package: ")) {
      end_entry();
      if (is_package_name(line.substr(9))) name = line.substr(9);
    } else if (line.starts_with("Build-Ids: ")) {
      says_ids = true;
      if (line.find(build_id) != line.npos && !name.empty()) return name;
    }
  }
  end_entry();
  return unsure;
}

std::vector<std::string> lines_of_file(const fs::path& path) {
  std::ifstream file(path);
  std::vector<std::string> lines;
  for (std::string line; lines.size() < 1000 && std::getline(file, line);) lines.push_back(line);
  return lines;
}

// The URI from which apt gets Debian: "http://HOST/debian". Empty: not Debian, or a mirror without the archives next to
// that.
std::string debian_archive() {
  std::vector<fs::path> files = {"/etc/apt/sources.list"};
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/etc/apt/sources.list.d", error))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) {
    for (const std::string& line : lines_of_file(file)) {  // "deb [OPTIONS] URI SUITE …", "URIs: URI …"
      if (!line.starts_with("deb ") && !line.starts_with("URIs:")) continue;
      const size_t begin = line.find("http");
      if (begin == line.npos) continue;
      std::string uri = line.substr(begin, line.find_first_of(" \t", begin) - begin);
      while (uri.ends_with('/')) uri.pop_back();
      if (uri.ends_with("/debian") && uri.find_first_of("'\"\\$`") == uri.npos) return uri;
    }
  }
  return {};
}

std::string os_release(std::string_view key) {
  for (const std::string& line : lines_of_file("/etc/os-release")) {
    if (line.starts_with(std::string(key) + "=") && is_package_name(std::string_view(line).substr(key.size() + 1)))
      return line.substr(key.size() + 1);
  }
  return {};
}

// The commands that make Debian's archive of symbols known to apt; empty: its URI is not known.
std::string debian_symbols_archive() {
  const std::string archive = os_release("ID") == "debian" ? debian_archive() : "";
  const std::string codename = os_release("VERSION_CODENAME");
  if (archive.empty() || codename.empty()) return {};
  return fmt::format(
      "echo 'deb {}-debug {}-debug main' | sudo tee /etc/apt/sources.list.d/debug.list && "
      "sudo apt update && ",
      archive, codename);
}

std::string rpm_package(const std::string& path) {
  const std::optional<std::string> text = output_of({"rpm", "-qf", "--queryformat", "%{NAME}\n", "--", path});
  const std::vector<std::string_view> lines = text ? lines_of(*text) : std::vector<std::string_view>();
  return lines.size() == 1 && is_package_name(lines[0]) ? std::string(lines[0]) : "";
}

bool is_there(const char* path) { return ::access(path, X_OK) == 0; }

}  // namespace

DebugPackage find_debug_package(const std::string& path, const std::string& build_id) {
  if (!path.starts_with('/')) return {};
  if (std::string package = debian_package(spellings(path)); !package.empty()) {
    const std::string symbols = debian_symbols(package, build_id);
    if (!symbols.empty()) return {std::move(package), "sudo apt install " + symbols};
    const std::string archive = debian_symbols_archive();
    if (archive.empty()) return {std::move(package), ""};
    return {package, fmt::format("{}sudo apt install {}-dbgsym", archive, package)};
  }
  if (std::string package = rpm_package(path); !package.empty()) {
    std::string install;
    if (is_there("/usr/bin/dnf")) install = "sudo dnf debuginfo-install " + package;
    if (install.empty() && is_there("/usr/bin/zypper")) install = "sudo zypper install " + package + "-debuginfo";
    return {std::move(package), std::move(install)};
  }
  return {};
}

std::string suggested_servers() {
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/etc/debuginfod", error)) {
    if (entry.path().extension() == ".urls" && entry.file_size(error) != 0 && !error) return "/etc/debuginfod/*.urls";
  }
  return {};
}

}  // namespace heapprof::cli
