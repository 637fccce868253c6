// cli/collect/leaks/target_memory.cc: blocks are small and lie together, so they are read in windows that are kept;
// mappings are large and mostly empty, so /proc/PID/pagemap is asked which of their pages there are.
#include "cli/collect/leaks/target_memory.h"

#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstring>

namespace heapprof::cli {

namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kWindowBytes = 16 << 10;
constexpr size_t kWindows = 4096;
constexpr uint64_t kPieceBytes = 1 << 20;
constexpr uint64_t kLongBytes = 64 << 10;  // from here on it is asked which pages there are
constexpr size_t kPagesAtOnce = 8192;      // of pagemap
constexpr uint64_t kPresent = uint64_t{1} << 63;
constexpr uint64_t kSwapped = uint64_t{1} << 62;
constexpr uint64_t kOfFile = uint64_t{1} << 61;  // or shared

std::string read_file(const std::string& path) {
  std::string text;
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.is_open()) return text;
  char buffer[65536];
  for (;;) {
    const ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(buffer, static_cast<size_t>(got));
  }
}

// Field 47 of /proc/PID/stat, start_brk; the name in brackets may hold anything.
uint64_t parse_heap_start(const std::string& stat) {
  constexpr int kAfterName = 45;  // fields behind the name and before it
  size_t at = stat.rfind(')');
  for (int field = 0; field < kAfterName && at != std::string::npos; ++field) at = stat.find(' ', at + 1);
  if (at == std::string::npos) return 0;
  uint64_t start = 0;
  std::from_chars(stat.data() + at + 1, stat.data() + stat.size(), start);
  return start;
}

}  // namespace

std::vector<TargetMapping> parse_mappings(const std::string& text) {
  std::vector<TargetMapping> mappings;
  for (size_t at = 0; at < text.size();) {
    const size_t line_end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, line_end - at);
    at = line_end + 1;
    TargetMapping mapping;
    char flags[5] = {};
    int path_at = 0;
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*s %" SCNu64 " %n", &mapping.range.start,
                    &mapping.range.end, flags, &mapping.file_off, &mapping.inode, &path_at) < 5)
      continue;
    mapping.is_readable = flags[0] == 'r';
    mapping.is_writable = flags[1] == 'w';
    mapping.is_executable = flags[2] == 'x';
    mapping.is_shared = flags[3] == 's';
    if (path_at > 0 && static_cast<size_t>(path_at) < line.size())
      mapping.path = line.substr(static_cast<size_t>(path_at));
    if (mapping.range.start < mapping.range.end) mappings.push_back(std::move(mapping));
  }
  return mappings;
}

TargetMemory::TargetMemory(pid_t pid)
    : pid_(pid),
      windows_(kWindows),
      window_words_(new uint64_t[kWindows * kWindowBytes / sizeof(uint64_t)]),
      piece_words_(new uint64_t[kPieceBytes / sizeof(uint64_t)]) {
  const std::string folder = "/proc/" + std::to_string(pid);
  pagemap_ = UniqueFd(::open((folder + "/pagemap").c_str(), O_RDONLY | O_CLOEXEC));
  mappings_ = parse_mappings(read_file(folder + "/maps"));
  heap_start_ = parse_heap_start(read_file(folder + "/stat"));
}

size_t TargetMemory::read_some(uint64_t address, void* to, size_t bytes) {
  const iovec local{to, bytes};
  const iovec remote{reinterpret_cast<void*>(address), bytes};
  const ssize_t got = ::process_vm_readv(pid_, &local, 1, &remote, 1, 0);
  if (got < 0 && errno == ESRCH) is_gone_ = true;
  return got < 0 ? 0 : static_cast<size_t>(got);
}

std::string TargetMemory::try_at(uint64_t address) {
  uint64_t word = 0;
  if (read_some(address, &word, sizeof word) == sizeof word) return "";
  return std::string("process_vm_readv: ") + std::strerror(errno);
}

bool TargetMemory::read(uint64_t address, void* to, size_t bytes) { return read_some(address, to, bytes) == bytes; }

uint64_t* TargetMemory::window_of(uint64_t address, uint64_t* bytes) {
  const uint64_t start = address & ~(kWindowBytes - 1);
  const size_t slot = start / kWindowBytes % kWindows;
  Window& window = windows_[slot];
  uint64_t* const words = &window_words_[slot * kWindowBytes / sizeof(uint64_t)];
  if (window.start != start) {
    // A read ends at the first page that is not there, and the window's first page may not be.
    window = {start, 0};
    std::memset(words, 0, kWindowBytes);
    for (uint64_t at = 0; at < kWindowBytes;) {
      const size_t got = read_some(start + at, reinterpret_cast<char*>(words) + at, kWindowBytes - at);
      at = got == 0 ? at + kPageBytes : at + got;
      if (got != 0) window.bytes = at;
    }
    read_bytes_ += window.bytes;
  }
  *bytes = window.bytes;
  return words;
}

void TargetMemory::visit_piece(MemoryRange piece, const Visit& visit) {
  while (piece.start < piece.end) {
    const uint64_t wanted = std::min(piece.end - piece.start, kPieceBytes);
    const size_t got = read_some(piece.start, piece_words_.get(), wanted) & ~(sizeof(uint64_t) - 1);
    read_bytes_ += got;
    if (got != 0) visit({piece_words_.get(), got / sizeof(uint64_t)}, piece.start);
    piece.start += got;
    if (got < wanted) {  // a page that no word stands in: a device's, or of a file that has become shorter
      const uint64_t next = (piece.start & ~(kPageBytes - 1)) + kPageBytes;
      unread_bytes_ += std::min(next, piece.end) - piece.start;
      piece.start = next;
    }
  }
}

template <typename IsWanted>
std::vector<MemoryRange> TargetMemory::pages_in(MemoryRange range, const IsWanted& is_wanted) {
  std::vector<MemoryRange> found;
  std::vector<uint64_t> entries(kPagesAtOnce);
  for (uint64_t page = range.start / kPageBytes; page * kPageBytes < range.end;) {
    const uint64_t last = (range.end + kPageBytes - 1) / kPageBytes;
    const size_t wanted = std::min<uint64_t>(kPagesAtOnce, last - page);
    const ssize_t got =
        ::pread(pagemap_.get(), entries.data(), wanted * sizeof(uint64_t), static_cast<off_t>(page * sizeof(uint64_t)));
    if (got < static_cast<ssize_t>(sizeof(uint64_t))) {  // nobody knows
      found.push_back({page * kPageBytes, last * kPageBytes});
      break;
    }
    const size_t count = static_cast<size_t>(got) / sizeof(uint64_t);
    for (size_t i = 0; i < count; ++i, ++page) {
      if (!is_wanted(entries[i])) continue;
      if (!found.empty() && found.back().end == page * kPageBytes) {
        found.back().end += kPageBytes;
      } else {
        found.push_back({page * kPageBytes, (page + 1) * kPageBytes});
      }
    }
  }
  for (MemoryRange& it : found) it = {std::max(it.start, range.start), std::min(it.end, range.end)};
  return found;
}

std::vector<MemoryRange> TargetMemory::changed_pages(MemoryRange range) {
  return pages_in(range, [](uint64_t entry) {
    return (entry & kSwapped) != 0 || ((entry & kPresent) != 0 && (entry & kOfFile) == 0);
  });
}

void TargetMemory::visit(MemoryRange range, const Visit& visit) {
  if (range.end - range.start >= kLongBytes) {
    for (const MemoryRange& piece :
         pages_in(range, [](uint64_t entry) { return (entry & (kPresent | kSwapped)) != 0; }))
      visit_piece(piece, visit);
    return;
  }
  while (range.start < range.end) {
    uint64_t bytes = 0;
    uint64_t* const words = window_of(range.start, &bytes);
    const uint64_t window = range.start & ~(kWindowBytes - 1);
    const uint64_t end = std::min(range.end, window + kWindowBytes);
    const uint64_t known = std::min(end, window + bytes);
    if (known > range.start) {
      visit({words + (range.start - window) / sizeof(uint64_t), (known - range.start) / sizeof(uint64_t)}, range.start);
    }
    if (known < end) unread_bytes_ += end - std::max(known, range.start);
    range.start = end;
  }
}

bool TargetMemory::is_vtable(uint64_t address) {
  const auto mapping_of = [this](uint64_t at) -> const TargetMapping* {
    const auto behind = std::upper_bound(mappings_.begin(), mappings_.end(), at,
                                         [](uint64_t wanted, const auto& it) { return wanted < it.range.start; });
    if (behind == mappings_.begin() || at >= (behind - 1)->range.end) return nullptr;
    return &*(behind - 1);
  };
  if (address % sizeof(uint64_t) != 0) return false;
  const TargetMapping* const table = mapping_of(address);
  if (table == nullptr || !table->is_readable || table->is_writable || !table->is_of_file()) return false;
  uint64_t function = 0;
  visit({address, address + sizeof function},
        [&function](std::span<const uint64_t> words, uint64_t) { function = words[0]; });
  const TargetMapping* const code = mapping_of(function);
  return code != nullptr && code->is_executable;
}

}  // namespace heapprof::cli
