// cli/collect/leaks/target_memory.cc: blocks are small and close together, so they are read in windows that are cached;
// mappings are large and mostly empty, so /proc/PID/pagemap is asked which of their pages are present.
#include "cli/collect/leaks/target_memory.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <new>

namespace heapprof::cli {

namespace {

constexpr uint64_t kMapPageBytes = 4096;
constexpr size_t kLeastWindows = 4096;
constexpr size_t kMostWindows = 32768;
constexpr uint64_t kPieceBytes = 1 << 20;
constexpr uint64_t kLongBytes = 64 << 10;  // from here on pagemap is asked which pages are present
constexpr size_t kPagesAtOnce = 8192;      // of pagemap
constexpr uint64_t kPresent = uint64_t{1} << 63;
constexpr uint64_t kSwapped = uint64_t{1} << 62;
constexpr uint64_t kOfFile = uint64_t{1} << 61;  // or shared
constexpr uint64_t kExclusive = uint64_t{1} << 56;
constexpr uint64_t kPagesOfBits = 512;
constexpr size_t kBitsKept = 4096;

// PAGEMAP_SCAN, which older headers do not have.
struct ScanQuestion {
  uint64_t size;
  uint64_t flags;
  uint64_t start;
  uint64_t end;
  uint64_t walk_end;  // set by the kernel: how far it went
  uint64_t regions;
  uint64_t regions_count;
  uint64_t most_pages;
  uint64_t inverted;
  uint64_t all_of;
  uint64_t any_of;
  uint64_t told;
};
struct ScanRegion {
  uint64_t start;
  uint64_t end;
  uint64_t kinds;
};
constexpr unsigned long kPagemapScan = _IOWR('f', 16, ScanQuestion);
constexpr uint64_t kScanFile = 1 << 2;
constexpr uint64_t kScanPresent = 1 << 3;
constexpr uint64_t kScanSwapped = 1 << 4;
constexpr uint64_t kScanZeros = 1 << 5;
constexpr size_t kRegionsAtOnce = 1024;
constexpr uint64_t kScanBytes = uint64_t{1} << 40;  // the kernel skips empty ranges in steps of GiB

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

// Field 47 of /proc/PID/stat, start_brk; the name in brackets may have any characters.
uint64_t parse_heap_start(const std::string& stat) {
  constexpr int kAfterName = 45;  // fields between the name and it
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

TargetMemory::TargetMemory(pid_t pid, size_t windows)
    : pid_(pid), page_bits_(kBitsKept), piece_words_(new uint64_t[kPieceBytes / sizeof(uint64_t)]) {
  for (windows = std::clamp(windows, kLeastWindows, kMostWindows); window_words_ == nullptr; windows /= 2) {
    const size_t words = windows * kWindowBytes / sizeof(uint64_t);
    window_words_.reset(windows > kLeastWindows ? new (std::nothrow) uint64_t[words] : new uint64_t[words]);
    windows_.resize(windows);
  }
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

bool TargetMemory::is_stopped() {
  if (!is_stopped_ && (is_gone_ || (has_to_stop_ && has_to_stop_()))) is_stopped_ = true;
  return is_stopped_;
}

const TargetMapping* TargetMemory::mapping_of(uint64_t address) const {
  const auto behind = std::upper_bound(mappings_.begin(), mappings_.end(), address,
                                       [](uint64_t wanted, const auto& it) { return wanted < it.range.start; });
  if (behind == mappings_.begin() || address >= (behind - 1)->range.end) return nullptr;
  return &*(behind - 1);
}

// pagemap returns nothing if the process is gone, and also if the address is invalid. Reading a byte shows which of the
// two it is.
void TargetMemory::note_end_of(uint64_t address) {
  char byte = 0;
  read_some(address, &byte, 1);
}

void TargetMemory::add_pages(MemoryRange pages, std::vector<MemoryRange>* found) const {
  if (!found->empty() && found->back().end == pages.start) {
    found->back().end = pages.end;
  } else {
    found->push_back(pages);
  }
}

// Asks for the present pages; empty ranges cost nothing. False: the kernel is too old for it (Linux 6.7 has it).
bool TargetMemory::scan_pages(MemoryRange range, Kind kind, std::vector<MemoryRange>* found) {
  std::vector<ScanRegion> regions(kRegionsAtOnce);
  while (range.start < range.end && !is_stopped()) {
    ScanQuestion question{};
    question.size = sizeof question;
    question.start = range.start;
    question.end = std::min(range.end, range.start + kScanBytes);
    question.regions = reinterpret_cast<uint64_t>(regions.data());
    question.regions_count = regions.size();
    question.most_pages = kPagesAtOnce;
    question.any_of = kScanPresent | kScanSwapped;
    question.told = kScanPresent | kScanSwapped | kScanFile | kScanZeros;
    const int count = ::ioctl(pagemap_.get(), kPagemapScan, &question);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == ESRCH) is_gone_ = true;
    if (count < 0 || question.walk_end <= range.start) return false;
    for (int i = 0; i < count; ++i) {
      const uint64_t kinds = regions[static_cast<size_t>(i)].kinds;
      if (kind == Kind::kChanged && (kinds & kScanSwapped) == 0 && (kinds & kScanFile) != 0) continue;
      if (kind == Kind::kWritten && (kinds & kScanZeros) != 0) continue;
      add_pages({regions[static_cast<size_t>(i)].start, regions[static_cast<size_t>(i)].end}, found);
    }
    range.start = question.walk_end;
  }
  return true;
}

// Asks for page after page. False: the kernel does not say.
bool TargetMemory::list_pages(MemoryRange range, Kind kind, std::vector<MemoryRange>* found) {
  std::vector<uint64_t> entries(kPagesAtOnce);
  const uint64_t last = range.end / kMapPageBytes;
  for (uint64_t page = range.start / kMapPageBytes; page < last && !is_stopped();) {
    const size_t wanted = std::min<uint64_t>(kPagesAtOnce, last - page);
    const ssize_t got =
        ::pread(pagemap_.get(), entries.data(), wanted * sizeof(uint64_t), static_cast<off_t>(page * sizeof(uint64_t)));
    if (got == 0) note_end_of(page * kMapPageBytes);
    if (got < static_cast<ssize_t>(sizeof(uint64_t))) return false;
    const size_t count = static_cast<size_t>(got) / sizeof(uint64_t);
    for (size_t i = 0; i < count; ++i, ++page) {
      const bool is_swapped = (entries[i] & kSwapped) != 0;
      if (!is_swapped && (entries[i] & kPresent) == 0) continue;
      if (kind == Kind::kChanged && !is_swapped && (entries[i] & kOfFile) != 0) continue;
      // All processes share the kernel's zero page; the huge zero page looks like a file's page.
      if (kind == Kind::kWritten && !is_swapped && (entries[i] & (kExclusive | kOfFile)) != kExclusive) continue;
      add_pages({page * kMapPageBytes, (page + 1) * kMapPageBytes}, found);
    }
  }
  return true;
}

std::vector<MemoryRange> TargetMemory::pages_in(MemoryRange range, Kind kind) {
  std::vector<MemoryRange> found;
  if (range.start >= range.end) return found;
  const MemoryRange pages{range.start & ~(kMapPageBytes - 1), (range.end + kMapPageBytes - 1) & ~(kMapPageBytes - 1)};
  bool is_known = false;
  if (can_scan_) {
    is_known = scan_pages(pages, kind, &found);
    can_scan_ = is_known || is_gone_;
  }
  if (!is_known && !is_stopped()) {
    found.clear();
    is_known = list_pages(pages, kind, &found);
  }
  if (is_stopped()) return {};
  has_unknown_pages_ = has_unknown_pages_ || !is_known;
  if (!is_known) found = {pages};
  for (MemoryRange& it : found) it = {std::max(it.start, range.start), std::min(it.end, range.end)};
  return found;
}

std::vector<MemoryRange> TargetMemory::changed_pages(MemoryRange range) { return pages_in(range, Kind::kChanged); }

std::vector<MemoryRange> TargetMemory::pages_of(MemoryRange range) { return pages_in(range, Kind::kAll); }

std::vector<MemoryRange> TargetMemory::written_pages(MemoryRange range) { return pages_in(range, Kind::kWritten); }

bool TargetMemory::has_page(uint64_t address) {
  const uint64_t page = address / kMapPageBytes;
  PageBits& bits = page_bits_[page / kPagesOfBits % page_bits_.size()];
  const uint64_t first_page = page / kPagesOfBits * kPagesOfBits;
  if (bits.first_page != first_page) {
    std::array<uint64_t, kPagesOfBits> entries{};
    const ssize_t got =
        ::pread(pagemap_.get(), entries.data(), sizeof entries, static_cast<off_t>(first_page * sizeof(uint64_t)));
    if (got == 0) note_end_of(address);
    bits.first_page = first_page;
    if (got < static_cast<ssize_t>(sizeof entries)) {
      bits.has.set();
    } else {
      for (size_t i = 0; i < entries.size(); ++i) bits.has[i] = (entries[i] & (kPresent | kSwapped)) != 0;
    }
  }
  return bits.has[page - first_page];
}

const TargetMemory::Window& TargetMemory::window_of(uint64_t address, uint64_t** words) {
  const uint64_t start = address & ~(kWindowBytes - 1);
  const size_t slot = start / kWindowBytes % windows_.size();
  Window& window = windows_[slot];
  *words = &window_words_[slot * kWindowBytes / sizeof(uint64_t)];
  if (window.start != start) {
    window = {start, 0, 0};
    std::memset(*words, 0, kWindowBytes);
    for (uint64_t at = 0; at < kWindowBytes && !is_stopped();) {
      uint64_t end = at;
      while (end < kWindowBytes && has_page(start + end)) end += kMapPageBytes;
      if (end == at) {
        at += kMapPageBytes;
        continue;
      }
      // A read ends at the first unreadable page.
      const size_t got = read_some(start + at, reinterpret_cast<char*>(*words) + at, end - at);
      if (got == 0) window.unread |= static_cast<uint8_t>(1U << (at / kMapPageBytes));
      at = got == 0 ? at + kMapPageBytes : (at + got + kMapPageBytes - 1) & ~(kMapPageBytes - 1);
      if (got != 0) window.bytes = at;
      read_bytes_ += got;
    }
  }
  return window;
}

void TargetMemory::visit_piece(MemoryRange piece, const Visit& visit) {
  while (piece.start < piece.end && !is_stopped()) {
    const uint64_t wanted = std::min(piece.end - piece.start, kPieceBytes);
    const size_t got = read_some(piece.start, piece_words_.get(), wanted) & ~(sizeof(uint64_t) - 1);
    read_bytes_ += got;
    if (got != 0) visit({piece_words_.get(), got / sizeof(uint64_t)}, piece.start);
    piece.start += got;
    if (got < wanted) {  // an unreadable page: of a device, or of a file that was truncated
      const uint64_t next = (piece.start & ~(kMapPageBytes - 1)) + kMapPageBytes;
      unread_bytes_ += std::min(next, piece.end) - piece.start;
      piece.start = next;
    }
  }
}

void TargetMemory::visit(MemoryRange range, const Visit& visit) {
  if (range.end - range.start >= kLongBytes) {
    for (const MemoryRange& piece : pages_of(range)) {
      if (is_stopped()) return;
      visit_piece(piece, visit);
    }
    return;
  }
  while (range.start < range.end && !is_stopped()) {
    uint64_t* words = nullptr;
    const Window window = window_of(range.start, &words);
    const uint64_t end = std::min(range.end, window.start + kWindowBytes);
    const uint64_t known = std::min(end, window.start + window.bytes);
    for (uint64_t page = window.start, bits = window.unread; bits != 0; page += kMapPageBytes, bits >>= 1) {
      const uint64_t from = std::max(page, range.start);
      const uint64_t to = std::min(page + kMapPageBytes, end);
      if ((bits & 1) != 0 && from < to) unread_bytes_ += to - from;
    }
    if (known > range.start) {
      // A copy: the callback may visit other memory, which may replace this window.
      std::array<uint64_t, kWindowBytes / sizeof(uint64_t)> copy;
      const size_t count = (known - range.start) / sizeof(uint64_t);
      std::memcpy(copy.data(), words + (range.start - window.start) / sizeof(uint64_t), count * sizeof(uint64_t));
      visit({copy.data(), count}, range.start);
    }
    range.start = end;
  }
}

bool TargetMemory::is_vtable(uint64_t address) {
  if (address % sizeof(uint64_t) != 0) return false;
  const TargetMapping* const table = mapping_of(address);
  if (table == nullptr || !table->is_readable || table->is_writable || table->is_shared || !table->is_of_file())
    return false;
  const auto [known, is_new] = vtables_.try_emplace(address, false);
  uint64_t function = 0;
  if (is_new && !is_stopped() && read(address, &function, sizeof function)) {
    const TargetMapping* const code = mapping_of(function);
    known->second = code != nullptr && code->is_executable;
  }
  return known->second;
}

std::vector<MemoryRange> without(const std::vector<MemoryRange>& pieces, std::span<const MemoryRange> taken) {
  std::vector<MemoryRange> left;
  size_t next = 0;
  for (const MemoryRange& piece : pieces) {
    uint64_t at = piece.start;
    while (next < taken.size() && taken[next].start < piece.end) {
      if (taken[next].start > at) left.push_back({at, taken[next].start});
      at = std::max(at, taken[next].end);
      if (taken[next].end > piece.end) break;  // it may reach into the next piece
      ++next;
    }
    if (at < piece.end) left.push_back({at, piece.end});
  }
  return left;
}

std::vector<MemoryRange> read_own_pages(uint64_t table_avma, uint32_t count, TargetMemory* memory) {
  constexpr uint32_t kMostOwnPages = 8192;
  std::vector<uint64_t> table(2 * size_t{std::min(count, kMostOwnPages)});
  std::vector<MemoryRange> pages;
  if (!memory->read(table_avma, table.data(), table.size() * sizeof(uint64_t))) return pages;
  for (size_t i = 0; i < table.size(); i += 2) {
    if (table[i] + table[i + 1] > table[i]) pages.push_back({table[i], table[i] + table[i + 1]});
  }
  return pages;
}

}  // namespace heapprof::cli
