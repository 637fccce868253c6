// cli/run/profile_path.cc: names are chosen as processes end, and no name may be chosen twice.
//
// The program that was started gets exactly the name that the user asked for, so that name is reserved from the start.
// Other processes get that name with their pid. In a long run a pid may be reused, and a pattern such as %n gives many
// processes the same name. Then a number is added, so that a profile never overwrites another of the same run.
//
// Names of programs and ranks come from the target, and become part of a path here. A slash in them would name another
// folder.
#include "cli/run/profile_path.h"

#include "cli/base/file_name.h"
#include "cli/base/problems.h"
#include "cli/target/process_facts.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <filesystem>

namespace heapprof::cli {

namespace {

std::string insert_before_extension(const std::string& path, const std::string& part) {
  const std::filesystem::path whole(path);
  const std::string extension = whole.extension().string();
  return path.substr(0, path.size() - extension.size()) + "." + part + extension;
}

std::string time_text(int64_t unix_ns) {
  const auto seconds = static_cast<time_t>(unix_ns / 1'000'000'000);
  tm local{};
  localtime_r(&seconds, &local);
  char text[32];
  return {text, strftime(text, sizeof text, "%Y%m%d-%H%M%S", &local)};
}

// Makes a name that a program chose safe: replaces slashes and control characters, and cuts it, so that the whole file
// name is not too long.
std::string as_name(std::string text) {
  constexpr size_t kMostBytes = 160;
  if (text.size() > kMostBytes) {
    size_t end = kMostBytes;
    while (end != 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;  // not inside a UTF-8 character
    text.resize(end);
  }
  for (char& c : text) {
    if (c == '/' || static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '_';
  }
  return text;
}

}  // namespace

std::string default_profile_path(const std::string& program, uint64_t pid) {
  return fmt::format("heapprof.{}.{}.json", as_name(base_name(program)), pid);
}

std::string default_snapshot_path(pid_t pid) {
  const std::string program = base_name(process_executable(pid));
  std::filesystem::path path = default_profile_path(program.empty() ? "process" : program, static_cast<uint64_t>(pid));
  return absolute_path(path.replace_extension(".snapshot.json").string());
}

Result<Done> check_name_pattern(const std::string& pattern) {
  for (size_t at = pattern.find('%'); at != std::string::npos; at = pattern.find('%', at + 2)) {
    const bool is_known = at + 1 < pattern.size() && std::string("pnrt%").find(pattern[at + 1]) != std::string::npos;
    if (!is_known) return unknown_directive(pattern, pattern.substr(at, 2));
  }
  return Done{};
}

bool has_directive(const std::string& pattern) {
  for (size_t at = pattern.find('%'); at != std::string::npos; at = pattern.find('%', at + 2)) {
    if (pattern[at + 1] != '%') return true;
  }
  return false;
}

std::string expand_name(const std::string& pattern, const NameFacts& facts) {
  std::string name;
  for (size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '%') {
      name += pattern[at];
      continue;
    }
    switch (pattern[++at]) {
      case 'p': name += fmt::format("{}", facts.pid); break;
      case 'n': name += as_name(facts.program); break;
      case 'r': name += as_name(facts.rank); break;
      case 't': name += time_text(facts.start_unix_ns); break;
      default: name += '%';
    }
  }
  return name;
}

std::string shown_path(const std::string& hidden) {
  const std::filesystem::path path(hidden);
  const std::string name = path.filename().string();
  return name.starts_with('.') ? (path.parent_path() / name.substr(1)).string() : hidden;
}

ProfileNames::ProfileNames(std::string pattern, const NameFacts& root, bool is_hidden) : pattern_(std::move(pattern)) {
  if (is_hidden) pattern_.insert(pattern_.rfind('/') + 1, 1, '.');
  root_path_ = expand_name(pattern_, root);
  taken_.insert(root_path_);
}

std::string ProfileNames::next(const ImageName& image) {
  if (image.is_root && image.is_last) return root_path_;
  std::string path = image.is_root ? root_path_ : expand_name(pattern_, image.facts);
  const std::string pid = fmt::format("{}", image.facts.pid);
  const auto finished = [&image](const std::string& name) {
    return image.is_last ? name : insert_before_extension(name, fmt::format("exec{}", image.image + 1));
  };
  const bool needs_pid = !image.is_root && (!has_directive(pattern_) || taken_.count(finished(path)) != 0);
  if (needs_pid) path = insert_before_extension(path, pid);
  std::string name = finished(path);
  for (int again = 2; !taken_.insert(name).second; ++again) {  // the pid was reused
    name = finished(insert_before_extension(path, fmt::format("{}", again)));
  }
  return name;
}

}  // namespace heapprof::cli
