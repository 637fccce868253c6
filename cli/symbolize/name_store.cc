// cli/symbolize/name_store.cc: a file is
//
//   u64 checksum of the rest | text kMagic | text version | text build id | facts of the module's file | text
//   debug path | facts of the debug file | u32 addresses, { u64 svma }… | ModuleNames (module_names_bytes.cc)
#include "cli/symbolize/name_store.h"

#include "cli/base/atomic_file.h"
#include "cli/base/fd.h"
#include "cli/symbolize/byte_codec.h"
#include "cli/symbolize/debug_index.h"
#include "cli/symbolize/module_names.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace heapprof::cli {
namespace {

constexpr char kMagic[] = "heapprof names 1";  // the number grows when other names are found in the same files
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

FileFacts facts_of_path(const std::string& path) {
  struct stat status {};
  if (path.empty() || ::stat(path.c_str(), &status) != 0) return {};
  return facts_of(status);
}

bool is_older(const FileFacts& facts, uint64_t than_ns) {
  return std::max(facts.modified_ns, facts.changed_ns) + kSecondNs < than_ns;
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

std::string bytes_of(const std::string& build_id, KeptNames* names) {
  ByteWriter writer;
  for (const std::string& text : {std::string(kMagic), std::string(HEAPPROF_VERSION), build_id}) writer.text(text);
  put(&writer, names->module);
  writer.text(names->debug_path);
  put(&writer, names->debug);
  ModuleNames frames;
  writer.number(names->frames.size());
  for (auto& [svma, chain] : names->frames) {
    writer.wide_number(svma);
    frames.frames.push_back(std::move(chain));
  }
  const std::string body = writer.take() + encode(frames);
  ByteWriter head;
  head.wide_number(checksum_of(body));
  return head.take() + body;
}

bool names_of(const std::string& bytes, const std::string& build_id, KeptNames* names) {
  ByteReader head(bytes);
  uint64_t checksum = 0;
  if (!head.wide_number(&checksum) || checksum != checksum_of(std::string_view(bytes).substr(sizeof checksum)))
    return false;
  for (const std::string& wanted : {std::string(kMagic), std::string(HEAPPROF_VERSION), build_id}) {
    std::string text;
    if (!head.text(&text) || text != wanted) return false;
  }
  uint32_t count = 0;
  if (!take(&head, &names->module) || !head.text(&names->debug_path) || !take(&head, &names->debug)) return false;
  if (!head.number(&count) || !head.has_room(count, sizeof(uint64_t))) return false;
  std::vector<uint64_t> addresses(count);
  for (uint64_t& svma : addresses)
    if (!head.wide_number(&svma)) return false;
  ModuleNames frames;
  if (!decode(head.rest(), &frames) || frames.frames.size() != count) return false;
  names->frames.reserve(count);
  for (size_t i = 0; i < count; ++i) names->frames.emplace(addresses[i], std::move(frames.frames[i]));
  return true;
}

// A regular file of ours of a size that we write, and no link to one.
std::optional<std::string> read_own_file(const std::string& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
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
  // It was of use: make_room() goes by this.
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  if (in_ns(status.st_mtim) + kDayS * kSecondNs < in_ns(now)) ::futimens(file.get(), nullptr);
  return bytes;
}

// The folder, `heapprof` around it and the user's cache folder around that. A home that is not there is not made.
bool make_own_folder(const std::string& path) {
  const std::filesystem::path own = std::filesystem::path(path).parent_path();
  for (const std::filesystem::path& each : {own.parent_path(), own, std::filesystem::path(path)})
    ::mkdir(each.c_str(), 0700);
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == ::geteuid();
}

}  // namespace

NameStore::NameStore(std::string folder, uint64_t most_bytes) : folder_(std::move(folder)), most_bytes_(most_bytes) {}

std::string NameStore::user_folder() {
  const char* const cache = std::getenv("XDG_CACHE_HOME");  // an absolute path, or it does not count
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

std::string NameStore::path_of(const Module& module) const {
  if (folder_.empty() || !is_build_id(module.build_id) || module.build_id.size() > NAME_MAX - sizeof kSuffix) return "";
  return folder_ + "/" + module.build_id + kSuffix;
}

std::optional<KeptNames> NameStore::find(const Module& module) const {
  const std::string path = path_of(module);
  if (path.empty()) return std::nullopt;
  const std::optional<std::string> bytes = read_own_file(path);
  KeptNames names;
  if (!bytes || !names_of(*bytes, module.build_id, &names)) return std::nullopt;
  if (names.module != facts_of(module) || names.debug != facts_of_path(names.debug_path)) return std::nullopt;
  return names;
}

void NameStore::keep(const Module& module, KeptNames names, uint64_t read_ns) const {
  const std::string path = path_of(module);
  if (path.empty() || names.module == FileFacts() || names.module != facts_of(module)) return;
  names.debug = facts_of_path(names.debug_path);
  if (!names.debug_path.empty() && names.debug == FileFacts()) return;
  if (!is_older(names.module, read_ns) || !is_older(names.debug, read_ns)) return;
  struct stat there {};
  if (!make_own_folder(folder_) || (::lstat(path.c_str(), &there) == 0 && !S_ISREG(there.st_mode))) return;
  const std::string bytes = bytes_of(module.build_id, &names);
  if (bytes.size() > std::min(kMostFileBytes, most_bytes_)) return;
  make_room(bytes.size());
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file) return;
  file->write(bytes);
  (void)file->commit();
}

// Removes what was of no use for longest until there is room for that much more.
void NameStore::make_room(uint64_t bytes) const {
  struct Old {
    std::filesystem::path path;
    std::filesystem::file_time_type time;
    uint64_t size_bytes;
  };
  std::vector<Old> files;
  uint64_t sum_bytes = bytes;
  std::error_code error;
  for (std::filesystem::directory_iterator at(folder_, error), end; !error && at != end; at.increment(error)) {
    std::error_code gone;
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
}

}  // namespace heapprof::cli
