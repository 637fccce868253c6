// cli/collect/books/mapping_ledger.cc: see mapping_ledger.h.
//
// One event may end and begin several blocks (a mapping over others, a move). Peaks and timelines are updated only when
// the whole event is booked. So no moment is recorded at which a page is neither at its old nor at its new place.
#include "cli/collect/books/mapping_ledger.h"

#include <algorithm>

namespace heapprof::cli {

using wire::DeviceOperation;

DeviceBook& MappingLedger::book_of(uint32_t device) {
  std::unique_ptr<DeviceBook>& book = books_[device - wire::kMappedDevice];
  if (book == nullptr) {
    book = std::make_unique<DeviceBook>();
    book->timeline.start(start_ticks_);
    book->stays.set_bounds(bounds_);
  }
  return *book;
}

void MappingLedger::note_changes() {
  for (const std::unique_ptr<DeviceBook>& book : books_) {
    if (book == nullptr) continue;
    book->sites.check_peak(now_ticks_);
    book->timeline.record(now_ticks_, book->sites.totals().live.bytes);
  }
}

// ---- Blocks ----

// Makes one block of all the pieces.
void MappingLedger::open(const Event& event, uint32_t device, bool is_file, const std::vector<PagePiece>& pieces) {
  uint64_t size_bytes = 0;
  for (const PagePiece& piece : pieces) size_bytes += piece.bytes();
  if (size_bytes == 0) return;
  SiteBook& sites = book_of(device).sites;
  sites.grow_to(event.site + 1);
  sites.make_room();
  const uint64_t id = ++last_block_;
  blocks_.emplace(id, MappedBlock{size_bytes, now_ticks_, device, event.site, event.thread(), is_file});
  for (const PagePiece& piece : pieces) ranges_.put({piece.start, piece.end, id});
  sites.add(event.site, size_bytes);
  latest_[event.thread()] = id;
}

// pre: the piece was removed from the ranges
bool MappingLedger::drop(const PagePiece& piece, bool may_be_temporary, Ended* ended) {
  const auto at = blocks_.find(piece.block);
  MappedBlock& block = at->second;
  SiteBook& sites = book_of(block.device).sites;
  NameBook& names = book_of(block.device).names;
  block.live_bytes -= piece.bytes();
  book_of(block.device).stays.end(block.site, {block.birth, now_ticks_}, piece.bytes(), block.live_bytes == 0 ? 1 : 0);
  if (block.live_bytes != 0) {
    sites.shrink(block.site, piece.bytes());
    if (block.name != 0) names.shrink(block.name, block.site, {piece.bytes(), 0});
    return false;
  }
  const auto latest = latest_.find(block.thread);
  const bool is_latest = latest != latest_.end() && latest->second == piece.block;
  if (is_latest) latest_.erase(latest);
  *ended = {block, now_ticks_ - block.birth, is_latest && may_be_temporary};
  sites.remove(block.site, piece.bytes(), ended->lifetime_ticks, ended->is_temporary);
  if (block.name != 0) names.remove(block.name, block.site, piece.bytes());
  blocks_.erase(at);
  return true;
}

void MappingLedger::drop_all(const std::vector<PagePiece>& pieces) {
  Ended ended;
  for (const PagePiece& piece : pieces) drop(piece, false, &ended);
}

// ---- Operations ----

bool MappingLedger::may_look_at(size_t pieces) {
  looks_ += pieces > kFreeLooks ? pieces - kFreeLooks : 0;
  if (looks_ <= kMostLooks || pieces <= kFreeLooks) return true;
  ++unmatched_;
  return false;
}

void MappingLedger::map(const DeviceEvent& device_event, const Event& event) {
  uint32_t device = device_event.device;
  bool is_file = (device_event.object & wire::kMapIsFile) != 0 || device == wire::kMappedFileDevice;
  const auto at = moving_.find(event.thread());
  if ((device_event.object & wire::kMapIsMoved) != 0 && at != moving_.end()) {
    const Moving moving = std::move(at->second);
    moving_.erase(at);
    return end_move(moving, device_event, event);
  }
  drop_all(ranges_.take(device_event.address, device_event.address + event.size_bytes));
  open(event, device, is_file, {{device_event.address, device_event.address + event.size_bytes, 0}});
}

// Books an mremap as Linux performs it:
//  - A range that keeps its size, or shrinks in place, may be several mappings with holes between them. Each mapping
//    keeps its kind and its offset. Pages at the new place that correspond to a hole stay. Shrinking ends the tail.
//    Several mappings can move since Linux 6.17; older kernels refuse that.
//  - A range that grows, or shrinks and moves, is one mapping. So is one that a call with 0 old bytes maps a second
//    time. Pages of such a mapping may have been mapped before recording began.
void MappingLedger::end_move(const Moving& moving, const DeviceEvent& device_event, const Event& event) {
  const uint64_t size_bytes = event.size_bytes;
  const uint64_t to = device_event.address;
  const bool is_copy = moving.size_bytes == 0;
  const bool is_of_all =
      is_copy ? (device_event.object & wire::kMapIsCopy) != 0
              : size_bytes == moving.size_bytes || (size_bytes < moving.size_bytes && to == moving.start);
  bool is_long = moving.is_long;
  std::vector<MovedKind> kinds =
      kinds_of(is_copy ? pieces_to_copy(moving, device_event, size_bytes, &is_long) : moving.pieces,
               moving.start + size_bytes, is_long);
  drop_all(moving.pieces);
  if (kinds.empty() || is_long || !is_of_all) {
    if (kinds.empty()) kinds.push_back({device_event.device, false, 0, {}});
    kinds.resize(1);
    kinds[0].pieces = {{moving.start, moving.start + size_bytes, 0}};
  }
  for (MovedKind& kind : kinds) {
    for (PagePiece& piece : kind.pieces) {
      piece.start += to - moving.start;
      piece.end += to - moving.start;
      drop_all(ranges_.take(piece.start, piece.end));
    }
    open(event, kind.device, kind.is_file, kind.pieces);
    if (kind.name != 0) name_block(&blocks_.at(last_block_), kind.name);
  }
}

// The pieces that stay in place: all pieces that are copied; or, if a file's pages get a second mapping, the first
// page, because the second mapping gets its kind.
std::vector<PagePiece> MappingLedger::pieces_to_copy(const Moving& moving, const DeviceEvent& device_event,
                                                     uint64_t size_bytes, bool* is_long) {
  if ((device_event.object & wire::kMapIsCopy) == 0) return ranges_.find(moving.start, moving.start + 1);
  const size_t most = looks_ > kMostLooks ? kFreeLooks + 1 : SIZE_MAX;
  std::vector<PagePiece> pieces = ranges_.find(moving.start, moving.start + size_bytes, most);
  *is_long = !may_look_at(pieces.size());
  return pieces;
}

// The pieces below `end`, by kind, in the order in which the kinds come; is_first_only: of the first kind alone.
std::vector<MappingLedger::MovedKind> MappingLedger::kinds_of(const std::vector<PagePiece>& pieces, uint64_t end,
                                                              bool is_first_only) const {
  std::vector<MovedKind> kinds;
  for (PagePiece piece : pieces) {
    if (piece.start >= end || (is_first_only && !kinds.empty())) break;
    piece.end = std::min(piece.end, end);
    const MappedBlock& block = blocks_.at(piece.block);
    const auto kind = std::find_if(kinds.begin(), kinds.end(), [&block](const MovedKind& one) {
      return one.device == block.device && one.is_file == block.is_file && one.name == block.name;
    });
    if (kind == kinds.end()) {
      kinds.push_back({block.device, block.is_file, block.name, {piece}});
    } else if (kind->pieces.back().end == piece.start) {
      kind->pieces.back().end = piece.end;
    } else {
      kind->pieces.push_back(piece);
    }
  }
  return kinds;
}

void MappingLedger::unmap(uint64_t start, uint64_t end, uint32_t thread) {
  Unmapped unmapped{start, ranges_.take(start, end), {}, now_ticks_};
  for (const PagePiece& piece : unmapped.pieces) {
    Ended ended;
    if (drop(piece, true, &ended)) unmapped.ended.emplace(piece.block, ended);
  }
  unmapped_.insert_or_assign(thread, std::move(unmapped));
}

void MappingLedger::begin_move(uint64_t start, uint64_t size_bytes, uint32_t thread) {
  if (const auto at = moving_.find(thread); at != moving_.end()) {  // a longjmp left the previous mremap
    abandon_move(at);
  }
  Moving moving{start, size_bytes, ranges_.take(start, start + size_bytes), false};
  moving.is_long = !may_look_at(moving.pieces.size());  // if so, all pages count as the first piece's kind
  moving_.emplace(thread, std::move(moving));
}

// The call has failed: all pages are as before, except those that other threads have mapped there by now.
void MappingLedger::keep(uint64_t start, uint32_t thread) {
  if (const auto at = moving_.find(thread); at != moving_.end() && at->second.start == start) {
    abandon_move(at);
    return;
  }
  const auto at = unmapped_.find(thread);
  if (at == unmapped_.end() || at->second.start != start) return;
  if (may_look_at(at->second.pieces.size())) restore(at->second);
  unmapped_.erase(at);
}

void MappingLedger::abandon_move(Moves::iterator at) {
  may_look_at(at->second.pieces.size()) ? put_back(at->second) : drop_all(at->second.pieces);
  moving_.erase(at);
}

void MappingLedger::put_back(const Moving& moving) {
  for (const PagePiece& piece : moving.pieces) {
    if (ranges_.is_free(piece.start, piece.end)) {
      ranges_.put(piece);
    } else {
      drop_all({piece});
    }
  }
}

void MappingLedger::restore(const Unmapped& unmapped) {
  for (const PagePiece& piece : unmapped.pieces) {
    if (!ranges_.is_free(piece.start, piece.end)) continue;
    auto at = blocks_.find(piece.block);
    if (at != blocks_.end()) {
      at->second.live_bytes += piece.bytes();
      DeviceBook& book = book_of(at->second.device);
      book.sites.grow(at->second.site, piece.bytes());
      book.stays.take_back(at->second.site, {at->second.birth, unmapped.ticks}, piece.bytes(), 0);
      if (at->second.name != 0) book.names.grow(at->second.name, at->second.site, {piece.bytes(), 0});
    } else {
      const auto ended = unmapped.ended.find(piece.block);
      if (ended == unmapped.ended.end()) continue;
      MappedBlock block = ended->second.block;
      block.live_bytes = piece.bytes();
      blocks_.emplace(piece.block, block);
      DeviceBook& book = book_of(block.device);
      book.sites.restore(block.site, piece.bytes(), ended->second.lifetime_ticks, ended->second.is_temporary);
      book.stays.take_back(block.site, {block.birth, unmapped.ticks}, piece.bytes(), 1);
      if (block.name != 0) book.names.restore(block.name, block.site, piece.bytes());
      if (ended->second.is_temporary) latest_[block.thread] = piece.block;
    }
    ranges_.put(piece);
  }
}

void MappingLedger::protect(uint64_t start, uint64_t end, bool is_reserved, const Event& event) {
  std::vector<PagePiece> changed[2];  // anonymous, of files
  const size_t most = looks_ > kMostLooks ? kFreeLooks + 1 : SIZE_MAX;
  const std::vector<PagePiece> pieces = ranges_.find(start, end, most);
  if (!may_look_at(pieces.size())) return;
  for (const PagePiece& piece : pieces) {
    const MappedBlock& block = blocks_.at(piece.block);
    if ((block.device == wire::kReservedDevice) != is_reserved) changed[block.is_file ? 1 : 0].push_back(piece);
  }
  for (const bool is_file : {false, true}) {
    for (const PagePiece& piece : changed[is_file ? 1 : 0]) drop_all(ranges_.take(piece.start, piece.end));
    const uint32_t used = is_file ? wire::kMappedFileDevice : wire::kMappedDevice;
    open(event, is_reserved ? wire::kReservedDevice : used, is_file, changed[is_file ? 1 : 0]);
  }
}

void MappingLedger::apply(const DeviceEvent& device_event, const Event& event, uint64_t now_ticks) {
  now_ticks_ = std::max(now_ticks_, now_ticks);
  switch (device_event.operation) {
    case DeviceOperation::kMapRange: map(device_event, event); break;
    case DeviceOperation::kUnmapRange:
      unmap(device_event.address, device_event.address + device_event.object, event.thread());
      break;
    case DeviceOperation::kMoveRange: begin_move(device_event.address, device_event.object, event.thread()); break;
    case DeviceOperation::kKeepRange: keep(device_event.address, event.thread()); break;
    case DeviceOperation::kProtectRange:
      protect(device_event.address, device_event.address + event.size_bytes,
              device_event.device == wire::kReservedDevice, event);
      break;
    default: return;  // not about pages: is_about()
  }
  note_changes();
}

void MappingLedger::forget_thread(uint32_t thread) {
  if (const auto at = moving_.find(thread); at != moving_.end()) {
    abandon_move(at);
    note_changes();
  }
  latest_.erase(thread);
  unmapped_.erase(thread);
}

void MappingLedger::finish(uint64_t end_ticks) {
  now_ticks_ = std::max(now_ticks_, end_ticks);
  for (const auto& [thread, moving] : moving_) put_back(moving);
  moving_.clear();
  note_changes();
  for (const auto& [id, block] : blocks_) {
    book_of(block.device).sites.add_final_lifetime(block.site, now_ticks_ - block.birth);
    book_of(block.device).stays.leave(block.site, block.birth, block.live_bytes);
  }
}

}  // namespace heapprof::cli
