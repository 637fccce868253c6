// cli/merge/kept_profiles.cc: bytes are copied unchanged, so that compressed files stay compressed.
#include "cli/merge/kept_profiles.h"

#include "cli/base/atomic_file.h"
#include "cli/base/fd.h"
#include "cli/base/problems.h"
#include "cli/base/text.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace heapprof::cli {
namespace {

// A name comes from another machine, and becomes part of a path.
std::string as_file_name(std::string name) {
  for (char& c : name) {
    if (c == '/' || static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '_';
  }
  return name.empty() || name.front() == '.' ? "_" + name : name;
}

Result<Done> copy(const std::string& from, const std::string& to) {
  const UniqueFd source(open(from.c_str(), O_RDONLY | O_CLOEXEC));
  if (!source.is_open()) return profile_not_readable(from, errno_text(errno));
  Result<AtomicFile> file = AtomicFile::create(to);
  if (!file) return file.problem();
  std::string buffer(1 << 20, '\0');
  for (;;) {
    const ssize_t got = read(source.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return profile_not_readable(from, errno_text(errno));
    if (got == 0) break;
    file->write({buffer.data(), static_cast<size_t>(got)});
  }
  const Result<std::string> path = file->commit();
  if (!path) return path.problem();
  return Done{};
}

}  // namespace

std::vector<KeptInput> choose_kept(const Profile& profile) {
  std::vector<NotedInput> noted = find_failed_inputs(profile);
  if (noted.size() > kMostFailedKept) noted.resize(kMostFailedKept);
  for (NotedInput& high : find_high_inputs(profile)) {
    const auto same = std::find_if(noted.begin(), noted.end(),
                                   [&](const NotedInput& known) { return known.part->input == high.part->input; });
    if (same != noted.end()) {
      same->why += ", " + high.why;
    } else {
      noted.push_back(std::move(high));
    }
  }
  std::vector<KeptInput> kept;
  std::set<std::string> names;
  for (const NotedInput& input : noted) {
    const MergedPart& part = *input.part;
    KeptInput& added = kept.emplace_back();
    added.file.file = part.file;
    added.file.pid = part.pid;
    added.file.image = part.image;
    added.file.start_unix_ns = part.start_unix_ns;
    added.host = part.job.host;
    added.why = fmt::format("{}: {}", input_name(part), input.why);
    const std::string file = as_file_name(part.file);
    const std::string longer = fmt::format("{}.{}.{}", as_file_name(part.job.host), part.pid, file);
    added.name = names.count(file) == 0 ? file : longer;
    for (int again = 2; !names.insert(added.name).second; ++again) added.name = fmt::format("{}.{}", again, longer);
  }
  return kept;
}

std::string kept_folder(const std::string& output) {
  std::string folder = output;
  for (const std::string_view ending : {".gz", ".json"}) {
    if (folder.size() > ending.size() && folder.ends_with(ending)) folder.resize(folder.size() - ending.size());
  }
  return folder + ".ranks";
}

Result<size_t> keep_profiles(const std::vector<KeptInput>& kept, const std::vector<ReadFile>& files,
                             const std::string& folder) {
  size_t copied = 0;
  for (const KeptInput& input : kept) {
    const auto file =
        std::find_if(files.begin(), files.end(), [&](const ReadFile& it) { return is_same_process(it, input.file); });
    if (file == files.end()) continue;  // it is part of an input that is a sum, or another process has it
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error) return output_not_writable(folder, error.message());
    const Result<Done> done = copy(file->path, folder + "/" + input.name);
    if (!done) return done.problem();
    ++copied;
  }
  return copied;
}

}  // namespace heapprof::cli
