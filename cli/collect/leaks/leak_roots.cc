// cli/collect/leaks/leak_roots.cc: /proc/PID/maps says what is mapped, but not by which code, and adjacent mappings of
// one kind are one line. So the lines are split with the help of other facts: the program headers of each file (how far
// its .bss goes), the start of the brk heap, the books (what the program mapped), and the data structures of glibc's
// malloc and threads.
//
// These structures: a thread's arena begins at a multiple of 64 MiB with a heap_info, whose sizes must be consistent. A
// block that malloc mapped separately has a bit for this in its header. A thread's descriptor is at the upper end of
// the thread's stack; on x86-64 it points to itself, twice. If such a descriptor belongs to no live thread, glibc keeps
// its stack for the next thread, and the content is stale.
#include "cli/collect/leaks/leak_roots.h"

#include "cli/arch/arch.h"
#include "cli/base/file_name.h"
#include "shared/env.h"

#include <elf.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>

namespace heapprof::cli {

namespace {

constexpr uint64_t kPageBytes = 4096;
constexpr uint64_t kArenaBytes = 64 << 20;   // glibc's HEAP_MAX_SIZE, to which its arenas are aligned
constexpr uint64_t kSpareTlsBytes = 4096;    // for libraries that are loaded late: 2 KiB in glibc
constexpr uint64_t kMostTlsBytes = 1 << 20;  // the most thread-local storage of one object
constexpr size_t kMostSegments = 256;
constexpr uint64_t kMappedChunk = 2;  // bit of a chunk's size
constexpr uint64_t kChunkFlags = 7;

uint64_t page_end(uint64_t address) { return (address + kPageBytes - 1) & ~(kPageBytes - 1); }

bool is_in(uint64_t address, const MemoryRange& range) { return address >= range.start && address < range.end; }

bool is_before(const MemoryRange& a, const MemoryRange& b) { return a.start < b.start; }

bool is_device(const std::string& path) {
  return path.starts_with("/dev/") && !path.starts_with("/dev/shm/") && !path.starts_with("/dev/zero");
}

bool is_kernels(const std::string& path) { return path.starts_with("[v"); }  // vdso, vvar, vsyscall

bool is_anonymous(const TargetMapping& mapping) { return mapping.path.empty() || mapping.path.starts_with("[anon"); }

class Roots {
 public:
  Roots(TargetMemory* memory, const BlockTable& blocks, const RootFacts& facts)
      : memory_(*memory),
        blocks_(blocks),
        facts_(facts),
        is_glibc_(is_libc_path(facts.allocator)),
        own_pages_(facts.own_pages) {
    std::sort(own_pages_.begin(), own_pages_.end(), is_before);
    uint64_t end = 0;  // without overlaps, so that their ends are ordered as well
    for (MemoryRange& own : own_pages_) {
      own.start = std::max(own.start, end);
      own.end = std::max(own.start, own.end);
      end = own.end;
    }
  }

  std::vector<LeakRoot> find() {
    const std::vector<TargetMapping>& mappings = memory_.mappings();
    for (size_t i = 0; i < mappings.size() && !memory_.is_stopped(); ++i) {
      const TargetMapping& mapping = mappings[i];
      if (is_kernels(mapping.path)) continue;
      if (!mapping.is_readable) {
        add_unreadable(mapping);
      } else if (mapping.path == "[heap]") {
        add_heap(mapping, bss_of(i));
      } else if (mapping.path == "[stack]") {
        add_stack(mapping.range);
      } else if (is_anonymous(mapping)) {
        add_anonymous(mapping, bss_of(i));
      } else {
        add_file(mapping);
      }
    }
    return std::move(roots_);
  }

 private:
  struct Extent {
    uint64_t start_avma = 0;
    uint64_t lowest_svma = 0;   // of its first page
    uint64_t highest_svma = 0;  // where its last segment ends; equal to lowest_svma: no module
  };
  struct Bss {
    uint64_t end = 0;  // 0: none
    const TargetMapping* of = nullptr;
  };

  // These pieces, all inside the range, without the agent's pages.
  std::vector<MemoryRange> without_own(const MemoryRange& range, const std::vector<MemoryRange>& pieces) const {
    const auto first = std::partition_point(own_pages_.begin(), own_pages_.end(),
                                            [&range](const MemoryRange& it) { return it.end <= range.start; });
    return without(pieces, {first, own_pages_.end()});
  }

  // like: all facts about it except the range.
  void add(const MemoryRange& range, const LeakRoot& like) {
    if (range.start >= range.end) return;
    for (const MemoryRange& piece : without_own(range, {range})) {
      roots_.push_back(like);
      roots_.back().range = piece;
    }
  }
  void add(const MemoryRange& range, RootKind kind = RootKind::kOther) {
    LeakRoot like;
    like.kind = kind;
    add(range, like);
  }

  // Root for data of the module of which this is a part.
  LeakRoot variables_of(const TargetMapping& part) {
    LeakRoot like;
    like.is_libc = is_libc_path(part.path);
    like.kind = RootKind::kVariable;
    like.module = part.path;
    const Extent extent = extent_of(part);
    // A file that the program maps itself is not one of its modules.
    const auto mapped = first_mapped(part.range);
    const bool is_mapped = mapped != facts_.mapped.end() && mapped->start < part.range.end;
    if (is_mapped || extent.highest_svma == extent.lowest_svma) {
      like.kind = RootKind::kMapped;
      return like;
    }
    like.start_avma = extent.start_avma;
    like.base_avma = extent.start_avma - extent.lowest_svma;
    return like;
  }

  bool is_left_out(const std::string& path) const {
    const std::string name = base_name(path);
    return name == wire::kAgentFile || name == wire::kReferenceFile ||
           (!is_glibc_ && !facts_.allocator.empty() && path == facts_.allocator);
  }

  bool has_blocks(const MemoryRange& range) const {
    const uint32_t first = blocks_.first_behind(range.start);
    return first < blocks_.size() && blocks_[first].start < range.end;
  }

  std::vector<MemoryRange>::const_iterator first_mapped(const MemoryRange& range) const {
    return std::partition_point(facts_.mapped.begin(), facts_.mapped.end(),
                                [&range](const MemoryRange& it) { return it.end <= range.start; });
  }

  void add_file(const TargetMapping& mapping) {
    if (mapping.inode == facts_.arena_inode && mapping.path.starts_with("/memfd:")) return;
    if (is_left_out(mapping.path) || is_device(mapping.path)) return;
    if (mapping.is_shared) {
      const bool is_memory = mapping.path.starts_with("/memfd:") || mapping.path.starts_with("/dev/shm/") ||
                             mapping.path.starts_with("/dev/zero") || mapping.path.starts_with("/SYSV");
      if (mapping.is_writable || is_memory) add_shared(mapping.range, mapping.is_writable);
    } else if (mapping.is_writable) {
      add(mapping.range, variables_of(mapping));
    } else {
      const std::vector<MemoryRange> changed = memory_.changed_pages(mapping.range);
      if (changed.empty()) return;
      const LeakRoot like = variables_of(mapping);
      for (const MemoryRange& range : changed) add(range, like);
    }
  }

  // Other processes may have written pages that this one never touched, but reading such pages would change the file.
  // So they count as unread, unless the process may only read them: then they have none of its pointers. (Files on a
  // disk that it may only read hold data, and are no roots.)
  void add_shared(const MemoryRange& range, bool is_writable) {
    for (const MemoryRange& piece : without_own(range, {range})) {
      uint64_t unread_bytes = piece.end - piece.start;
      if (!memory_.tells_pages()) {
        if (is_writable) memory_.add_unread(unread_bytes);
        continue;
      }
      for (const MemoryRange& pages : memory_.pages_of(piece)) {
        unread_bytes -= pages.end - pages.start;
        add(pages, RootKind::kMapped);
      }
      if (is_writable) memory_.add_unread(unread_bytes);
    }
  }

  // Counts the mapping as unread: it is unreadable now, but the process may make it readable again.
  void add_unreadable(const TargetMapping& mapping) {
    if (mapping.is_of_file() && (is_left_out(mapping.path) || is_device(mapping.path))) return;
    const std::vector<MemoryRange> held =
        mapping.is_shared ? memory_.pages_of(mapping.range) : memory_.changed_pages(mapping.range);
    for (const MemoryRange& pages : without_own(mapping.range, held)) memory_.add_unread(pages.end - pages.start);
  }

  // If a file's mapping ends where mapping `index` begins, returns how far that file's .bss reaches into mapping
  // `index`.
  Bss bss_of(size_t index) const {
    const std::vector<TargetMapping>& mappings = memory_.mappings();
    if (index == 0) return {};
    const TargetMapping& before = mappings[index - 1];
    if (!before.is_of_file() || !before.is_writable || before.is_shared ||
        before.range.end != mappings[index].range.start)
      return {};
    const uint64_t end = std::min(module_end(before), mappings[index].range.end);
    return end > before.range.end ? Bss{end, &before} : Bss{};
  }

  // The program headers of the file whose first page is there; empty: it has none.
  std::vector<Elf64_Phdr> segments_at(uint64_t start) const {
    Elf64_Ehdr header{};
    if (!memory_.read(start, &header, sizeof header)) return {};
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(Elf64_Phdr) ||
        header.e_phnum > kMostSegments)
      return {};
    std::vector<Elf64_Phdr> segments(header.e_phnum);
    const size_t bytes = segments.size() * sizeof(Elf64_Phdr);
    if (!memory_.read(start + header.e_phoff, segments.data(), bytes)) segments.clear();
    return segments;
  }

  Extent extent_at(uint64_t start) const {
    Extent extent{start, UINT64_MAX, 0};
    for (const Elf64_Phdr& segment : segments_at(start)) {
      if (segment.p_type != PT_LOAD) continue;
      extent.lowest_svma = std::min(extent.lowest_svma, segment.p_vaddr & ~(kPageBytes - 1));
      extent.highest_svma = std::max(extent.highest_svma, segment.p_vaddr + segment.p_memsz);
    }
    return extent.highest_svma > extent.lowest_svma ? extent : Extent{};
  }

  // The module of which this mapping is a part. A file may be loaded several times (dlmopen). Its first page may also
  // be mapped again as part of its data (lld): such a page is inside a module, and does not begin one.
  Extent extent_of(const TargetMapping& part) const {
    Extent extent;
    for (const TargetMapping& mapping : memory_.mappings()) {
      if (mapping.range.start > part.range.start) break;
      if (mapping.path != part.path || mapping.inode != part.inode || mapping.file_off != 0) continue;
      if (mapping.range.start - extent.start_avma >= extent.highest_svma - extent.lowest_svma)
        extent = extent_at(mapping.range.start);
    }
    return part.range.start - extent.start_avma < extent.highest_svma - extent.lowest_svma ? extent : Extent{};
  }
  // Where the file's last segment ends.
  uint64_t module_end(const TargetMapping& part) const {
    const Extent extent = extent_of(part);
    return page_end(extent.start_avma + (extent.highest_svma - extent.lowest_svma));
  }

  // The size of all objects' thread-local storage at a thread pointer, and of libc's reserve there.
  uint64_t static_tls_bytes() {
    if (static_tls_bytes_ != 0) return static_tls_bytes_;
    uint64_t bytes = kSpareTlsBytes;
    for (const TargetMapping& mapping : memory_.mappings()) {
      if (mapping.file_off != 0 || !mapping.is_of_file() || mapping.is_shared) continue;
      if (extent_of(mapping).start_avma != mapping.range.start) continue;
      for (const Elf64_Phdr& segment : segments_at(mapping.range.start)) {
        if (segment.p_type == PT_TLS) bytes += std::min(segment.p_memsz + segment.p_align, kMostTlsBytes);
      }
    }
    static_tls_bytes_ = bytes;
    return bytes;
  }

  void add_bss(const Bss& bss, uint64_t start) {
    if (bss.of != nullptr && !is_left_out(bss.of->path)) add({start, bss.end}, variables_of(*bss.of));
  }

  // The pages of brk. Without address space randomisation the program's .bss is in the same line.
  void add_heap(const TargetMapping& mapping, const Bss& bss) {
    const uint64_t start = std::clamp(memory_.heap_start(), mapping.range.start, mapping.range.end);
    add_bss(bss, mapping.range.start);
    if (facts_.inherits) return add({start, mapping.range.end});
    for (auto mapped = first_mapped({start, mapping.range.end});
         mapped != facts_.mapped.end() && mapped->start < mapping.range.end; ++mapped) {
      if (!has_blocks(*mapped))
        add({std::max(mapped->start, start), std::min(mapped->end, mapping.range.end)}, RootKind::kMapped);
    }
  }

  void add_stack(const MemoryRange& range) {
    uint64_t start = range.start;
    for (const LeakThread& thread : facts_.threads) {
      if (is_in(thread.stack_avma, range)) start = thread.stack_avma;
    }
    add({start, range.end}, RootKind::kStack);
  }

  // The lowest address at which the thread's descriptor and its thread-local storage may begin.
  uint64_t storage_start(const LeakThread& thread) {
    const uint64_t below_bytes = kMostDescriptorBelow + (kIsStorageBelow ? static_tls_bytes() : 0);
    return thread.thread_avma - std::min(thread.thread_avma, below_bytes);
  }
  // The end of the last page with the thread's descriptor or storage.
  uint64_t storage_end(uint64_t thread_avma) {
    return page_end(thread_avma + kDescriptorAbove + (kIsStorageBelow ? 0 : static_tls_bytes()));
  }

  // Adds the thread's memory in the range, from its stack pointer, if this is in the range, to `end`. Its descriptor
  // and its thread-local storage are just above the stack. How much of it is libc's reserve, and how large the
  // descriptor is, is unknown, so the part that may belong to the outermost functions counts as stack.
  void add_thread(const LeakThread& thread, const MemoryRange& range, uint64_t end) {
    const bool is_below = is_in(thread.stack_avma, range) && thread.stack_avma < thread.thread_avma;
    constexpr uint64_t kDoubtfulBytes =
        kMostDescriptorBelow - kLeastDescriptorBelow + (kIsStorageBelow ? kSpareTlsBytes : 0);
    const uint64_t storage = std::max(range.start, storage_start(thread) + (is_below ? kDoubtfulBytes : 0));
    const bool has_stack = is_in(thread.stack_avma, range) && thread.stack_avma < end;
    const uint64_t start = has_stack ? thread.stack_avma : storage;
    add({start, std::min(std::max(start, storage), end)}, RootKind::kStack);
    add({std::max(start, storage), end}, RootKind::kThreadLocal);
  }

  void add_anonymous(const TargetMapping& mapping, const Bss& bss) {
    MemoryRange range = mapping.range;
    if (bss.of != nullptr) {
      add_bss(bss, range.start);
      range.start = bss.end;
    }
    std::vector<MemoryRange> pieces;
    uint64_t at = range.start;
    for (auto mapped = first_mapped(range); mapped != facts_.mapped.end() && mapped->start < range.end; ++mapped) {
      const MemoryRange part{std::max(mapped->start, at), std::min(mapped->end, range.end)};
      if (at < part.start) pieces.push_back({at, part.start});
      at = std::max(at, part.end);
      // If there are blocks in it, it is the memory of an allocator inside the program.
      if (!has_blocks(*mapped) || facts_.inherits) add(part, RootKind::kMapped);
    }
    if (at < range.end) pieces.push_back({at, range.end});
    for (const MemoryRange& piece : without_own(range, pieces)) {
      if (!is_glibc_) {
        add_unknown(piece);
      } else {
        add_beside_malloc(piece);
      }
    }
  }

  // The use of this piece is unknown, so only the parts of it that are known to be stacks are added.
  void add_unknown(const MemoryRange& piece) {
    if (facts_.inherits) return add(piece);
    for (const LeakThread& thread : facts_.threads) {
      const bool has_descriptor = is_in(thread.thread_avma, piece);
      const uint64_t descriptor_end = std::min(storage_end(thread.thread_avma), piece.end);
      if (has_descriptor) {
        add_thread(thread, piece, descriptor_end);
      } else if (is_in(thread.stack_avma, piece)) {
        add({thread.stack_avma, piece.end}, RootKind::kStack);
      }
    }
  }

  // For processes with glibc's malloc: adds the piece without malloc's own memory.
  void add_beside_malloc(const MemoryRange& piece) {
    std::vector<MemoryRange> taken = arenas_in(piece);
    const std::vector<MemoryRange> chunks = mapped_chunks_in(piece, taken);
    taken.insert(taken.end(), chunks.begin(), chunks.end());
    std::sort(taken.begin(), taken.end(), is_before);
    if (facts_.inherits) {
      for (const MemoryRange& range : taken) add({std::max(range.start, piece.start), std::min(range.end, piece.end)});
    }
    for (const MemoryRange& rest : without({piece}, taken)) {
      if (has_blocks(rest) && !facts_.inherits) continue;  // malloc's heap in another form, because brk was refused
      add_without_old_stacks(rest);
    }
  }

  std::vector<MemoryRange> arenas_in(const MemoryRange& piece) {
    struct HeapInfo {
      uint64_t arena;
      uint64_t previous;
      uint64_t size_bytes;
      uint64_t usable_bytes;
    };
    std::vector<MemoryRange> arenas;
    for (uint64_t at = (piece.start + kArenaBytes - 1) & ~(kArenaBytes - 1); at < piece.end && !memory_.is_stopped();
         at += kArenaBytes) {
      HeapInfo info{};
      if (!memory_.has_page(at) || !memory_.read(at, &info, sizeof info)) continue;
      const bool is_heap = info.arena != 0 && info.arena % 16 == 0 && info.previous % kPageBytes == 0 &&
                           info.size_bytes != 0 && info.size_bytes % kPageBytes == 0 &&
                           info.usable_bytes >= info.size_bytes && info.usable_bytes <= kArenaBytes &&
                           info.usable_bytes % kPageBytes == 0;
      if (is_heap) arenas.push_back({at, at + info.usable_bytes});
    }
    return arenas;
  }

  // Finds malloc's separately mapped blocks outside these arenas.
  std::vector<MemoryRange> mapped_chunks_in(const MemoryRange& piece, const std::vector<MemoryRange>& arenas) {
    std::vector<MemoryRange> chunks;
    auto arena = arenas.begin();
    for (uint32_t i = blocks_.first_behind(piece.start);
         i < blocks_.size() && blocks_[i].start < piece.end && !memory_.is_stopped(); ++i) {
      while (arena != arenas.end() && arena->end <= blocks_[i].start) ++arena;
      if (arena != arenas.end() && blocks_[i].start >= arena->start) continue;
      std::array<uint64_t, 2> header{};  // the bytes before the chunk's start, and its size
      if (!memory_.read(blocks_[i].start - sizeof header, header.data(), sizeof header)) continue;
      if ((header[1] & kMappedChunk) == 0) continue;
      const uint64_t start = blocks_[i].start - sizeof header;
      chunks.push_back({start - std::min(start, header[0]), start + (header[1] & ~kChunkFlags)});
    }
    return chunks;
  }

  // The thread pointers of live threads in the piece and, where their descriptors can be recognized, of those that
  // have ended; sorted.
  std::vector<uint64_t> thread_pointers_in(const MemoryRange& piece) {
    std::vector<uint64_t> found;
    if (kDescriptorPointsToItself) {
      memory_.visit({page_end(piece.start), piece.end & ~(kPageBytes - 1)},
                    [&found](std::span<const uint64_t> words, uint64_t address) {
                      for (size_t i = 0; i + 2 < words.size(); i += 8) {  // they are aligned to 64
                        const uint64_t at = address + i * sizeof(uint64_t);
                        if (is_descriptor(&words[i], at)) found.push_back(at);
                      }
                    });
      return found;
    }
    for (const LeakThread& thread : facts_.threads) {
      if (is_in(thread.thread_avma, piece)) found.push_back(thread.thread_avma);
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  // Splits the piece at the descriptors of threads in it.
  void add_without_old_stacks(const MemoryRange& piece) {
    uint64_t start = piece.start;
    for (const uint64_t pointer : thread_pointers_in(piece)) {
      if (pointer < start) continue;
      const uint64_t end = std::min(storage_end(pointer), piece.end);
      const auto thread = std::find_if(facts_.threads.begin(), facts_.threads.end(),
                                       [pointer](const LeakThread& it) { return it.thread_avma == pointer; });
      if (thread != facts_.threads.end()) {
        if (!is_in(thread->stack_avma, {start, end})) add({start, std::max(start, storage_start(*thread))});
        add_thread(*thread, {start, end}, end);
      }
      start = end;
    }
    if (start < piece.end) add({start, piece.end});
  }

  TargetMemory& memory_;
  const BlockTable& blocks_;
  const RootFacts& facts_;
  bool is_glibc_;
  std::vector<MemoryRange> own_pages_;  // by address
  uint64_t static_tls_bytes_ = 0;       // 0: not computed yet
  std::vector<LeakRoot> roots_;
};

}  // namespace

bool is_libc_path(const std::string& path) {
  const std::string name = base_name(path);
  return name.starts_with("libc.so") || name.starts_with("libc-2.");
}

std::vector<LeakRoot> find_roots(TargetMemory* memory, const BlockTable& blocks, const RootFacts& facts) {
  return Roots(memory, blocks, facts).find();
}

}  // namespace heapprof::cli
