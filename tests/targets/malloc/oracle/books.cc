// tests/targets/malloc/oracle/books.cc: from logs to numbers. Three ways to the peak, one for each kind of order
// (books.h).
#include "books.h"

#include "raw.h"
#include "sites.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>

#include <algorithm>

namespace oracle {
namespace {

struct KeyNumbers {
  uint64_t total_bytes, total_blocks;
  uint64_t smallest_bytes, largest_bytes;
  int64_t live_bytes, live_blocks;
  uint64_t max_bytes, max_blocks;    // the key's own maximum of bytes, and then of blocks; only with one thread
  uint64_t peak_bytes, peak_blocks;  // at the peak, where it is exact
  uint64_t temporary, temporary_unknown;
};

struct Peak {
  bool exact;
  uint64_t bytes_low, bytes_high;
  uint64_t blocks_at_peak;
  uint64_t max_blocks_low, max_blocks_high;
};

struct Replay {
  KeyNumbers* keys;
  size_t key_count;
  int64_t live_bytes, live_blocks;
  uint64_t peak_bytes, blocks_at_peak, max_blocks;
};

void count_totals(const Entry& entry, KeyNumbers* keys) {
  if (entry.new_key < kMarker) {
    KeyNumbers& sized = keys[entry.new_key];
    if (sized.total_blocks == 0 || entry.new_bytes < sized.smallest_bytes) sized.smallest_bytes = entry.new_bytes;
    if (entry.new_bytes > sized.largest_bytes) sized.largest_bytes = entry.new_bytes;
    keys[entry.new_key].total_bytes += entry.new_bytes;
    ++keys[entry.new_key].total_blocks;
  }
  if (entry.old_key >= kMarker) return;
  KeyNumbers& old = keys[entry.old_key];
  if (entry.temporary == Temporary::kUnknown) ++old.temporary_unknown;
  if (entry.temporary == Temporary::kYes) ++old.temporary;
}

void count_live(const Entry& entry, Replay* replay) {
  if (entry.old_key < kMarker) {
    replay->keys[entry.old_key].live_bytes -= static_cast<int64_t>(entry.old_bytes);
    --replay->keys[entry.old_key].live_blocks;
    replay->live_bytes -= static_cast<int64_t>(entry.old_bytes);
    --replay->live_blocks;
  }
  if (entry.new_key < kMarker) {
    KeyNumbers& key = replay->keys[entry.new_key];
    key.live_bytes += static_cast<int64_t>(entry.new_bytes);
    ++key.live_blocks;
    uint64_t bytes = static_cast<uint64_t>(key.live_bytes), blocks = static_cast<uint64_t>(key.live_blocks);
    if (bytes > key.max_bytes || (bytes == key.max_bytes && blocks > key.max_blocks)) {
      key.max_bytes = bytes;
      key.max_blocks = blocks;
    }
    replay->live_bytes += static_cast<int64_t>(entry.new_bytes);
    ++replay->live_blocks;
  }
}

// Replays entries of which the order is known, and says at which of them (from 1) the peak of bytes was raised last; 0:
// nowhere.
size_t replay_in_order(const Entry* entries, size_t count, Replay* replay) {
  size_t raised = 0;
  for (size_t i = 0; i < count; ++i) {
    count_live(entries[i], replay);
    if (replay->live_bytes > static_cast<int64_t>(replay->peak_bytes)) {
      replay->peak_bytes = static_cast<uint64_t>(replay->live_bytes);
      replay->blocks_at_peak = static_cast<uint64_t>(replay->live_blocks);
      raised = i + 1;
    }
    replay->max_blocks = std::max(replay->max_blocks, static_cast<uint64_t>(replay->live_blocks));
  }
  return raised;
}

// The keys' live numbers after the first `at` of the entries, counted back from what is live after `count` of them.
void keep_keys_at_peak(const Entry* entries, size_t at, size_t count, Replay* replay) {
  for (size_t k = 0; k < replay->key_count; ++k) {
    replay->keys[k].peak_bytes = static_cast<uint64_t>(replay->keys[k].live_bytes);
    replay->keys[k].peak_blocks = static_cast<uint64_t>(replay->keys[k].live_blocks);
  }
  for (size_t i = count; i > at; --i) {
    const Entry& entry = entries[i - 1];
    if (entry.old_key < kMarker)
      replay->keys[entry.old_key].peak_bytes += entry.old_bytes, ++replay->keys[entry.old_key].peak_blocks;
    if (entry.new_key < kMarker)
      replay->keys[entry.new_key].peak_bytes -= entry.new_bytes, --replay->keys[entry.new_key].peak_blocks;
  }
}

size_t segment_end(const Log& log, size_t from) {
  while (from < log.count && log.entries[from].old_key != kMarker) ++from;
  return from;
}

void replay_segments(Log* logs, uint32_t threads, Order order, Replay* replay) {
  size_t* position = map_array<size_t>(threads);
  if (order == Order::kBarriers) {
    for (bool alone = false; position[0] < logs[0].count; alone = !alone) {
      for (uint32_t t = 0; t < (alone ? 1 : threads); ++t) {
        size_t end = segment_end(logs[t], position[t]);
        const Entry* first = logs[t].entries + position[t];
        if (!alone) {
          for (size_t i = 0; position[t] + i < end; ++i) count_live(first[i], replay);
        } else if (size_t raised = replay_in_order(first, end - position[t], replay); raised > 0) {
          keep_keys_at_peak(first, raised, end - position[t], replay);
        }
        position[t] = end + 1;
      }
    }
    return;
  }
  for (uint32_t t = 0; t < threads; ++t) {
    size_t raised = replay_in_order(logs[t].entries, logs[t].count, replay);
    if (order == Order::kOneThread && raised > 0) keep_keys_at_peak(logs[t].entries, raised, logs[t].count, replay);
  }
}

struct Point {
  uint64_t time;
  int64_t delta;
};

// The highest level that must (low) or can (high) have been reached: a call changes the level at one moment between its
// beginning and its return, so meanwhile the smaller, or the larger, of both levels holds.
uint64_t extreme_level(const Log* logs, uint32_t threads, bool high, bool of_blocks, Point* points) {
  size_t count = 0;
  for (uint32_t t = 0; t < threads; ++t) {
    for (size_t i = 0; i < logs[t].count; ++i) {
      const Entry& entry = logs[t].entries[i];
      if (entry.old_key == kMarker) continue;
      int64_t before = entry.old_key == kNoKey ? 0 : of_blocks ? 1 : static_cast<int64_t>(entry.old_bytes);
      int64_t after = entry.new_key == kNoKey ? 0 : of_blocks ? 1 : static_cast<int64_t>(entry.new_bytes);
      int64_t meanwhile = high ? std::max(before, after) : std::min(before, after);
      points[count++] = {entry.called, meanwhile - before};
      points[count++] = {entry.returned, after - meanwhile};
    }
  }
  std::sort(points, points + count, [high](const Point& a, const Point& b) {
    return a.time != b.time ? a.time < b.time : high ? a.delta > b.delta : a.delta < b.delta;
  });
  int64_t level = 0, extreme = 0;
  for (size_t i = 0; i < count; ++i) extreme = std::max(extreme, level += points[i].delta);
  return static_cast<uint64_t>(extreme);
}

Peak find_peak(Log* logs, uint32_t threads, Order order, const Replay& replay) {
  if (order != Order::kFree) {
    return {true, replay.peak_bytes, replay.peak_bytes, replay.blocks_at_peak, replay.max_blocks, replay.max_blocks};
  }
  size_t entries = 0;
  for (uint32_t t = 0; t < threads; ++t) entries += logs[t].count;
  Point* points = map_array<Point>(2 * entries);
  Peak peak = {};
  peak.bytes_low = extreme_level(logs, threads, false, false, points);
  peak.bytes_high = extreme_level(logs, threads, true, false, points);
  peak.max_blocks_low = extreme_level(logs, threads, false, true, points);
  peak.max_blocks_high = extreme_level(logs, threads, true, true, points);
  return peak;
}

// Text in mapped memory, written at once.
class Page {
 public:
  explicit Page(size_t room) : text_(map_array<char>(room)), room_(room) {}
  __attribute__((format(printf, 2, 3))) void print(const char* format, ...) {
    va_list arguments;
    va_start(arguments, format);
    length_ += static_cast<size_t>(vsnprintf(text_ + length_, room_ - length_, format, arguments));
    va_end(arguments);
    if (length_ >= room_) die("the books are longer than their page");
  }
  void write_to(const char* path) const {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0) die("cannot open the books");
    for (size_t done = 0; done < length_;) {
      ssize_t n = write(fd, text_ + done, length_ - done);
      if (n <= 0) die("cannot write the books");
      done += static_cast<size_t>(n);
    }
    close(fd);
  }

 private:
  char* text_;
  size_t room_;
  size_t length_ = 0;
};

void print_keys(Page* page, const KeyNumbers* keys, uint32_t stacks, Order order) {
  page->print("\"keys\": {");
  const char* comma = "\n";
  for (uint32_t k = 0; k < kKinds * stacks; ++k) {
    const KeyNumbers& n = keys[k];
    if (n.total_blocks == 0) continue;
    char name[256];
    write_key(name, static_cast<Kind>(k / stacks), k % stacks);
    page->print("%s  \"%s\": {\"tb\": %lu, \"tbk\": %lu, \"eb\": %lu, \"ebk\": %lu", comma, name, n.total_bytes,
                n.total_blocks, static_cast<uint64_t>(n.live_bytes), static_cast<uint64_t>(n.live_blocks));
    if (order != Order::kFree) page->print(", \"gb\": %lu, \"gbk\": %lu", n.peak_bytes, n.peak_blocks);
    if (order == Order::kOneThread) page->print(", \"mb\": %lu, \"mbk\": %lu", n.max_bytes, n.max_blocks);
    page->print(", \"smallest\": %lu, \"largest\": %lu", n.smallest_bytes, n.largest_bytes);
    page->print(", \"temporary\": %lu, \"temporary_unknown\": %lu}", n.temporary, n.temporary_unknown);
    comma = ",\n";
  }
  page->print("\n}\n");
}

}  // namespace

void Log::add(const Entry& entry) {
  if (count >= room) die("a log is full: more operations than were said");
  entries[count++] = entry;
}

void Log::mark() { add({0, 0, 0, 0, kMarker, kMarker, Temporary::kNo, 0}); }

void write_books(const char* path, const BooksHeader& header, Log* logs, Order order) {
  Replay replay = {};
  replay.key_count = kKinds * header.stacks;
  replay.keys = map_array<KeyNumbers>(replay.key_count);
  uint64_t frees = 0, reallocs = 0, failed_reallocs = 0, reallocs_to_nothing = 0, failures = 0, total_bytes = 0,
           total_blocks = 0;
  for (uint32_t t = 0; t < header.threads; ++t) {
    for (size_t i = 0; i < logs[t].count; ++i) {
      const Entry& entry = logs[t].entries[i];
      if (entry.old_key == kMarker) continue;
      count_totals(entry, replay.keys);
      if (entry.new_key != kNoKey) total_bytes += entry.new_bytes, ++total_blocks;
      if (entry.by_realloc == 0 && entry.old_key != kNoKey) ++frees;
      if (entry.by_realloc != 0 && entry.new_key != kNoKey) ++reallocs;
    }
    failed_reallocs += logs[t].failed_reallocs;
    reallocs_to_nothing += logs[t].reallocs_to_nothing;
    failures += logs[t].failures;
  }
  replay_segments(logs, header.threads, order, &replay);
  Peak peak = find_peak(logs, header.threads, order, replay);

  Page page(size_t{1} << 30);
  page.print("{\"seed\": %lu, \"threads\": %u, \"operations\": %lu, \"mode\": \"%s\", \"stacks\": %u,\n", header.seed,
             header.threads, header.operations, header.mode, header.stacks);
  page.print(" \"total_bytes\": %lu, \"total_blocks\": %lu, \"live_bytes\": %ld, \"live_blocks\": %ld,\n", total_bytes,
             total_blocks, replay.live_bytes, replay.live_blocks);
  page.print(
      " \"frees\": %lu, \"reallocs\": %lu, \"failed_reallocs\": %lu, \"reallocs_to_nothing\": %lu, \"failures\": "
      "%lu,\n",
      frees, reallocs, failed_reallocs, reallocs_to_nothing, failures);
  page.print(
      " \"peak\": {\"exact\": %s, \"bytes_low\": %lu, \"bytes_high\": %lu, \"max_blocks_low\": %lu, "
      "\"max_blocks_high\": %lu",
      peak.exact ? "true" : "false", peak.bytes_low, peak.bytes_high, peak.max_blocks_low, peak.max_blocks_high);
  if (peak.exact) page.print(", \"blocks_at_peak\": %lu", peak.blocks_at_peak);
  page.print("},\n ");
  print_keys(&page, replay.keys, header.stacks, order);
  page.print("}\n");
  page.write_to(path);
}

}  // namespace oracle
