// cli/symbolize/name_store.cc: a file is
//
//   u64 checksum of the rest | text kMagic | text own_identity() | text build id |
//   facts of the module's file | text debug path | facts of the debug file | u32 addresses, { u64 svma }… |
//   ModuleNames (module_names_bytes.cc), which has the paths without a debug file
//
// The program's own identity is included, because another build may find other names; a copy of this build finds the
// same.
#include "cli/symbolize/name_store.h"

#include "cli/base/atomic_file.h"
#include "cli/base/fd.h"
#include "cli/symbolize/byte_codec.h"
#include "cli/symbolize/debug_file.h"
#include "cli/symbolize/debug_index.h"
#include "cli/symbolize/elf_identity.h"
#include "cli/symbolize/module_names.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace heapprof::cli {
namespace {

constexpr char kMagic[] = "heapprof names 5";  // the number changes with the format
constexpr char kSuffix[] = ".names";
constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kDayS = 24 * 60 * 60;

uint64_t in_ns(const timespec& time) {
  return static_cast<uint64_t>(time.tv_sec) * kSecondNs + static_cast<uint64_t>(time.tv_nsec);
}

FileFacts facts_of(const struct stat& status) {
  return {status.st_dev, status.st_ino, static_cast<uint64_t>(status.st_size), in_ns(status.st_mtim),
          in_ns(status.st_ctim)};
}

uint64_t checksum_of(std::string_view bytes) {
  uint64_t sum = bytes.size();
  for (size_t i = 0; i < bytes.size(); i += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min(sizeof word, bytes.size() - i));
    sum = (sum ^ word) * 0x9E3779B97F4A7C15ull;
    sum ^= sum >> 32;
  }
  return sum;
}

void put(ByteWriter* writer, const FileFacts& facts) {
  for (const uint64_t value : {facts.device, facts.inode, facts.size_bytes, facts.modified_ns, facts.changed_ns})
    writer->wide_number(value);
}

bool take(ByteReader* reader, FileFacts* facts) {
  for (uint64_t* value : {&facts->device, &facts->inode, &facts->size_bytes, &facts->modified_ns, &facts->changed_ns})
    if (!reader->wide_number(value)) return false;
  return true;
}

// This program's build id, or else the facts of its file.
const std::string& own_identity() {
  static const std::string identity = [] {
    const UniqueFd file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
    const std::optional<ElfIdentity> elf = file.is_open() ? read_elf_identity(file.get()) : std::nullopt;
    if (elf && !elf->build_id.empty()) return elf->build_id;
    ByteWriter writer;
    put(&writer, facts_of_path("/proc/self/exe"));
    return writer.take();
  }();
  return identity;
}

// What precedes the facts of the module.
std::string head_of(const std::string& build_id) {
  ByteWriter writer;
  writer.text(kMagic);
  writer.text(own_identity());
  writer.text(build_id);
  return writer.take();
}

std::string bytes_of(const std::string& build_id, const KeptNames& names) {
  ByteWriter writer;
  put(&writer, names.module);
  writer.text(names.debug_path);
  put(&writer, names.debug);
  ModuleNames frames;
  writer.number(names.frames.size());
  for (const auto& [svma, chain] : names.frames) {
    writer.wide_number(svma);
    frames.frames.push_back(chain);
    const auto call = names.calls.find(svma);
    frames.calls.push_back(call == names.calls.end() ? CallKeys() : call->second);
  }
  frames.inferred = names.inferred;
  frames.sought_paths = names.sought_paths;
  const std::string body = head_of(build_id) + writer.take() + encode(frames);
  ByteWriter head;
  head.wide_number(checksum_of(body));
  return head.take() + body;
}

bool names_of(const std::string& bytes, const std::string& build_id, KeptNames* names) {
  ByteReader start(bytes);
  uint64_t checksum = 0;
  if (!start.wide_number(&checksum) || checksum != checksum_of(std::string_view(bytes).substr(sizeof checksum)))
    return false;
  const std::string wanted = head_of(build_id);
  if (bytes.compare(sizeof checksum, wanted.size(), wanted) != 0) return false;
  const std::string body = bytes.substr(sizeof checksum + wanted.size());
  ByteReader head(body);
  uint32_t count = 0;
  if (!take(&head, &names->module) || !head.text(&names->debug_path) || !take(&head, &names->debug)) return false;
  if (!head.number(&count) || !head.has_room(count, sizeof(uint64_t))) return false;
  std::vector<uint64_t> addresses(count);
  for (uint64_t& svma : addresses)
    if (!head.wide_number(&svma)) return false;
  ModuleNames frames;
  if (!decode(head.rest(), &frames) || frames.frames.size() != count) return false;
  names->frames.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    names->frames.emplace(addresses[i], std::move(frames.frames[i]));
    if (frames.calls[i] != CallKeys()) names->calls.emplace(addresses[i], frames.calls[i]);
  }
  names->inferred = std::move(frames.inferred);
  names->sought_paths = std::move(frames.sought_paths);
  return true;
}

// A regular file of ours, not a link, of a size that we write.
std::optional<std::string> read_own_file(int folder, const std::string& name) {
  const UniqueFd file(::openat(folder, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status {};
  if (!file.is_open() || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (status.st_uid != ::geteuid() || static_cast<uint64_t>(status.st_size) > NameStore::kMostFileBytes)
    return std::nullopt;
  std::string bytes(static_cast<size_t>(status.st_size), '\0');
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t got = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (got <= 0) return std::nullopt;
    done += static_cast<size_t>(got);
  }
  // Marks the file as used, for make_room().
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  if (in_ns(status.st_mtim) + kDayS * kSecondNs < in_ns(now)) ::futimens(file.get(), nullptr);
  return bytes;
}

// Whether the folder belongs to the user, and has no write permission in `others`.
bool is_own(const UniqueFd& folder, mode_t others) {
  struct stat status {};
  return folder.is_open() && ::fstat(folder.get(), &status) == 0 && status.st_uid == ::geteuid() &&
         (status.st_mode & others) == 0;
}

UniqueFd open_cache_folder(const std::filesystem::path& path, bool is_made) {
  constexpr int kFlags = O_RDONLY | O_DIRECTORY | O_CLOEXEC;
  UniqueFd folder(::open(path.c_str(), kFlags));
  if (folder.is_open() || !is_made) return folder;
  const UniqueFd parent(::open(path.parent_path().c_str(), kFlags));
  if (is_own(parent, 0)) ::mkdirat(parent.get(), path.filename().c_str(), 0700);
  return UniqueFd(::open(path.c_str(), kFlags));
}

// "0123….names", or the leftover of a killed writer.
bool is_called_as_ours(const std::string& name) {
  const size_t start = name.starts_with('.') ? 1 : 0;
  const size_t digits_end = name.find_first_not_of("0123456789abcdef", start);
  if (digits_end == start || digits_end == std::string::npos) return false;
  const std::string_view rest = std::string_view(name).substr(digits_end);
  return start == 0 ? rest == kSuffix : rest.starts_with(std::string(kSuffix) + ".");
}

// A path to the open folder, with which paths to its files begin.
std::string path_of(const UniqueFd& folder) { return "/proc/self/fd/" + std::to_string(folder.get()); }

// The name of the file for a build id; empty: the build id cannot be a file's name.
std::string name_of(const std::string& build_id) {
  if (!is_build_id(build_id) || build_id.size() > NAME_MAX - sizeof kSuffix) return "";
  return build_id + kSuffix;
}

}  // namespace

FileFacts facts_of_path(const std::string& path) {
  struct stat status {};
  if (path.empty() || ::stat(path.c_str(), &status) != 0) return {};
  return facts_of(status);
}

bool FileFacts::is_settled(uint64_t before_ns) const {
  return std::max(modified_ns, changed_ns) + kSecondNs < before_ns;
}

NameStore::NameStore(std::string folder, uint64_t most_bytes) : folder_(std::move(folder)), most_bytes_(most_bytes) {}

std::string NameStore::user_folder() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");  // ignored unless it is an absolute path
  if (cache != nullptr && *cache == '/') return std::string(cache) + "/heapprof/names";
  const char* const home = std::getenv("HOME");
  if (home != nullptr && *home == '/') return std::string(home) + "/.cache/heapprof/names";
  return "";
}

FileFacts NameStore::facts_of(const Module& module) {
  struct stat status {};
  if (module.file && module.file->is_open())
    return ::fstat(module.file->get(), &status) == 0 ? cli::facts_of(status) : FileFacts();
  return facts_of_path(module.path);
}

UniqueFd NameStore::open_folder(bool is_made) const {
  if (folder_.empty()) return UniqueFd();
  const std::filesystem::path path(folder_);
  UniqueFd folder = open_cache_folder(path.parent_path().parent_path(), is_made);
  if (!is_own(folder, S_IWOTH)) return UniqueFd();
  for (const std::filesystem::path& name : {path.parent_path().filename(), path.filename()}) {
    if (is_made) ::mkdirat(folder.get(), name.c_str(), 0700);
    folder = UniqueFd(::openat(folder.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!is_own(folder, S_IWGRP | S_IWOTH)) return UniqueFd();
  }
  return folder;
}

std::optional<KeptNames> NameStore::find(const std::string& build_id, const FileFacts& now) const {
  const std::string name = name_of(build_id);
  const UniqueFd folder = name.empty() ? UniqueFd() : open_folder(false);
  if (!folder.is_open()) return std::nullopt;
  const std::optional<std::string> bytes = read_own_file(folder.get(), name);
  KeptNames names;
  if (!bytes || !names_of(*bytes, build_id, &names)) return std::nullopt;
  if (names.module != now || names.debug != facts_of_path(names.debug_path)) return std::nullopt;
  if (!names.sought_paths.empty() && has_debuginfod_servers()) return std::nullopt;
  for (const std::string& path : names.sought_paths)
    if (::access(path.c_str(), F_OK) == 0) return std::nullopt;
  return names;
}

void NameStore::keep(const std::string& build_id, const KeptNames& names) {
  const std::string name = name_of(build_id);
  if (name.empty() || !names.module.is_there() || names.debug.is_there() == names.debug_path.empty()) return;
  const UniqueFd folder = open_folder(true);
  struct stat there {};
  if (!folder.is_open()) return;
  if (::fstatat(folder.get(), name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 && !S_ISREG(there.st_mode)) return;
  const std::string bytes = bytes_of(build_id, names);
  if (bytes.size() > std::min(kMostFileBytes, most_bytes_)) return;
  if (bytes.size() > room_bytes_) room_bytes_ = make_room(path_of(folder), bytes.size());
  room_bytes_ -= std::min<uint64_t>(room_bytes_, bytes.size());
  Result<AtomicFile> file = AtomicFile::create(path_of(folder) + "/" + name);
  if (!file) return;
  file->write(bytes);
  (void)file->commit();
}

// Removes the least recently used files until so many more bytes fit; returns how much room there is then.
uint64_t NameStore::make_room(const std::string& folder, uint64_t bytes) const {
  struct Old {
    std::filesystem::path path;
    std::filesystem::file_time_type time;
    uint64_t size_bytes;
  };
  std::vector<Old> files;
  uint64_t sum_bytes = bytes;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
    if (!is_called_as_ours(at->path().filename()) ||
        at->symlink_status(gone).type() != std::filesystem::file_type::regular)
      continue;
    const Old file{at->path(), at->last_write_time(gone), gone ? 0 : at->file_size(gone)};
    if (gone) continue;
    sum_bytes += file.size_bytes;
    files.push_back(file);
  }
  std::sort(files.begin(), files.end(), [](const Old& a, const Old& b) { return a.time < b.time; });
  for (size_t i = 0; i < files.size() && sum_bytes > most_bytes_; ++i) {
    std::filesystem::remove(files[i].path, error);
    sum_bytes -= files[i].size_bytes;
  }
  return bytes + most_bytes_ - std::min(most_bytes_, sum_bytes);
}

}  // namespace heapprof::cli
