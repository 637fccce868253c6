// cli/collect/books/device_ledger.cc: device memory consists not only of blocks, but also of handles, mappings and
// contexts.
//
// On the heap a block begins and ends at its address. On a device it may end with its context, without any call that
// names it. Its handle may be released long before its last mapping ends. It may be imported, and is then closed as
// often as it was opened. So a block counts its references, and ends with the last of them.
//
// The agent records a release before it calls the driver, like a free, since another thread may get the same address at
// once. The driver may refuse it, though. So each thread's last release is kept, with all that it changed (the
// lifetime, whether it was temporary), and kKeep undoes it, even if another thread has changed the same block in
// between.
//
// The end of a context ends the blocks that were born in it *before* its end began. The agent says when the call begins
// (kMayEnd) and when it has returned (kHasEnded): a block that another thread allocates in between belongs to a new
// context of the same handle.
#include "cli/collect/books/device_ledger.h"

#include "cli/base/saturating.h"
#include "cli/model/profile/device_facts.h"

#include <algorithm>
#include <limits>
#include <vector>

namespace heapprof::cli {

using wire::DeviceOperation;

DeviceBook& DeviceLedger::book_of(uint32_t device) {
  std::unique_ptr<DeviceBook>& book = books_[device];
  if (book == nullptr) {
    book = std::make_unique<DeviceBook>();
    book->timeline.start(start_ticks_);
    book->stays.set_bounds(bounds_);
  }
  return *book;
}

void DeviceLedger::note_change(const DeviceBlock& block) {
  DeviceBook& book = book_of(block.device);
  book.timeline.record(now_ticks_, book.sites.totals().live.bytes);
}

uint64_t DeviceLedger::seen_bytes(uint32_t device) const {
  const auto at = books_.find(device);
  if (at == books_.end()) return 0;
  const HeldMemory held = at->second->holdings.memory();
  const uint64_t idle_bytes = held.pools_bytes - std::min(held.pools_bytes, held.pools_used_bytes);
  return at->second->sites.totals().live.bytes + idle_bytes + held.graphs_bytes;
}

// Imported memory that is imported again is the same memory: the block gets one more reference.
bool DeviceLedger::add_reference(Blocks* blocks, uint64_t key, uint32_t device) {
  const auto at = blocks->find(key);
  if (device != wire::kImportedDevice || at == blocks->end()) return false;
  ++at->second.references;
  return true;
}

void DeviceLedger::forget_latest(uint32_t thread, uint64_t key) {
  const auto latest = latest_.find(thread);
  if (latest != latest_.end() && latest->second == key) latest_.erase(latest);
}

void DeviceLedger::open(Blocks* blocks, uint64_t key, const DeviceBlock& block) {
  if (const auto old = blocks->find(key); old != blocks->end()) {  // its end was not recorded, or is about to be
    const auto ending = ending_.lower_bound({old->second.context, 0});
    if (ending == ending_.end() || ending->first.first != old->second.context) ++unmatched_;
    forget_latest(old->second.thread, key);  // not known to be temporary
    if (blocks == &memory_) trace(TraceAction::kEnd, key, old->second);
    close(old->second, key);
    blocks->erase(old);
  }
  DeviceBook& book = book_of(block.device);
  book.sites.grow_to(block.site + 1);
  book.sites.make_room();
  blocks->emplace(key, block);
  book.sites.add(block.site, block.size_bytes);
  if (block.is_of_pool) book.holdings.use_pool(block.size_bytes);
  book.sites.check_peak(now_ticks_);
  note_change(block);
  latest_[block.thread] = key;
  if (blocks == &memory_) trace(TraceAction::kBegin, key, block);
}

// Books the end of a block. The caller removes it from its table.
DeviceLedger::Released DeviceLedger::close(const DeviceBlock& block, uint64_t key) {
  const auto latest = latest_.find(block.thread);
  const bool is_temporary = latest != latest_.end() && latest->second == key;
  if (is_temporary) latest_.erase(latest);
  const uint64_t lifetime_ticks = now_ticks_ - block.birth;
  DeviceBook& book = book_of(block.device);
  book.sites.remove(block.site, block.size_bytes, lifetime_ticks, is_temporary);
  book.stays.end(block.site, {block.birth, now_ticks_}, block.size_bytes, 1);
  if (block.is_of_pool) book.holdings.leave_pool(block.size_bytes);
  if (block.name != 0) book.names.remove(block.name, block.site, block.size_bytes);
  note_change(block);
  return {key, Ended::kBlock, block, lifetime_ticks, is_temporary};
}

DeviceLedger::Released DeviceLedger::drop_reference(Blocks* blocks, uint64_t key) {
  const auto at = blocks->find(key);
  if (at == blocks->end()) {
    ++unmatched_;
    return {key, Ended::kNothing, {}, 0, false};
  }
  if (at->second.references > 1) {
    --at->second.references;
    return {key, Ended::kReference, at->second, 0, false};
  }
  const DeviceBlock block = at->second;
  if (block.is_segment) end_segment(block.device, block.size_bytes);
  if (blocks == &memory_) trace(TraceAction::kEnd, key, block);
  blocks->erase(at);
  return close(block, key);
}

// Undoes the end of a block, completely.
void DeviceLedger::reopen(Blocks* blocks, const Released& released) {
  const DeviceBlock& block = released.block;
  DeviceBook& book = book_of(block.device);
  book.sites.restore(block.site, block.size_bytes, released.lifetime_ticks, released.is_temporary);
  book.stays.take_back(block.site, {block.birth, block.birth + released.lifetime_ticks}, block.size_bytes, 1);
  if (block.is_of_pool) book.holdings.use_pool(block.size_bytes);
  if (block.name != 0) book.names.restore(block.name, block.site, block.size_bytes);
  book.sites.check_peak(now_ticks_);
  blocks->emplace(released.key, block);
  if (block.is_segment) begin_segment(block.device, block.size_bytes);
  if (released.is_temporary) latest_[block.thread] = released.key;
  if (blocks == &memory_) trace(TraceAction::kBegin, released.key, block);
  note_change(block);
}

// Undoes a release that the driver has refused. If no block was known at the address, the release was counted as
// unmatched. It no longer counts, because there was nothing to release.
void DeviceLedger::take_back(Blocks* blocks, ReleasedBy* released, uint64_t key, uint32_t thread) {
  const auto at = released->find(thread);
  if (at == released->end() || at->second.key != key) return;
  Released& last = at->second;
  const auto now_there = blocks->find(key);
  if (last.ended == Ended::kNothing) {
    --unmatched_;
  } else if (now_there == blocks->end()) {  // it ended then, or other threads dropped the rest
    last.block.references = 1;
    reopen(blocks, last);
  } else if (last.ended == Ended::kReference) {
    ++now_there->second.references;
  }
  released->erase(at);
}

void DeviceLedger::release(uint64_t address, uint32_t thread) {
  unmapped_.erase(thread);
  released_.erase(thread);
  if (memory_.count(address) == 0) {
    if (mappings_.count(address) != 0) return unmap(address, 1, thread);  // it is a mapping of external memory
    if (graph_addresses_.count(address) != 0) return;
  }
  released_.emplace(thread, drop_reference(&memory_, address));
}

void DeviceLedger::keep(uint64_t address, uint32_t thread) {
  released_.count(thread) == 0 ? keep_mappings(thread) : take_back(&memory_, &released_, address, thread);
}

void DeviceLedger::map(uint64_t address, const Mapping& mapping) {
  const auto handle = handles_.find(mapping.handle);
  if (handle == handles_.end()) {
    ++unmatched_;
    return;
  }
  ++handle->second.references;
  const auto [at, is_new] = mappings_.try_emplace(address, mapping);
  if (is_new) return trace_mapping(TraceAction::kMap, address, mapping);
  const Mapping before = at->second;
  at->second = mapping;
  if (before.handle == mapping.handle && handle->second.device == wire::kImportedDevice) {
    at->second.count += before.count;
    return;
  }
  ++unmatched_;  // the ends of the previous mappings were not recorded
  trace_mapping(TraceAction::kUnmap, address, before);
  trace_mapping(TraceAction::kMap, address, mapping);
  for (uint32_t i = 0; i < before.count; ++i) drop_reference(&handles_, before.handle);
}

void DeviceLedger::unmap(uint64_t address, uint64_t size_bytes, uint32_t thread) {
  const uint64_t end = size_bytes > std::numeric_limits<uint64_t>::max() - address
                           ? std::numeric_limits<uint64_t>::max()
                           : address + size_bytes;
  std::vector<Unmapped>& unmapped = unmapped_[thread];
  unmapped.clear();
  for (auto at = mappings_.lower_bound(address); at != mappings_.end() && at->first < end;) {
    const Mapping one{at->second.size_bytes, at->second.handle, 1, at->second.site, at->second.is_segment};
    if (at->second.count == 1) {
      end_mapping_segment(at->second);
      trace_mapping(TraceAction::kUnmap, at->first, at->second);
    }
    unmapped.push_back({at->first, one, drop_reference(&handles_, one.handle)});
    at = --at->second.count == 0 ? mappings_.erase(at) : std::next(at);
  }
}

// An unmapping has failed. If the handle's memory had ended with it, the memory is restored first, without references;
// each restored mapping then adds one.
void DeviceLedger::keep_mappings(uint32_t thread) {
  const auto at = unmapped_.find(thread);
  if (at == unmapped_.end()) return;
  for (Unmapped& unmapped : at->second) {
    if (unmapped.memory.ended != Ended::kBlock || handles_.count(unmapped.mapping.handle) != 0) continue;
    unmapped.memory.block.references = 0;
    reopen(&handles_, unmapped.memory);
  }
  for (const Unmapped& unmapped : at->second) {
    const auto now_there = mappings_.find(unmapped.address);
    if (now_there == mappings_.end() || now_there->second.handle == unmapped.mapping.handle)
      map(unmapped.address, unmapped.mapping);
  }
  unmapped_.erase(at);
}

void DeviceLedger::end_context(uint64_t context, uint32_t thread) {
  const auto marked = ending_.find({context, thread});
  const uint64_t last_birth = marked == ending_.end() ? now_ticks_ : marked->second;
  std::vector<uint64_t> ended;
  for (const auto& [address, block] : memory_) {
    if (block.context == context && block.birth <= last_birth) ended.push_back(address);
  }
  if (marked != ending_.end()) ending_.erase(marked);
  for (const uint64_t address : ended) {
    const DeviceBlock block = memory_.at(address);
    if (block.is_segment) end_segment(block.device, block.size_bytes);
    forget_latest(block.thread, address);  // ended with its context, not temporary
    trace(TraceAction::kEnd, address, block);
    close(block, address);
    memory_.erase(address);
  }
}

// Whether the address is inside memory that the driver handed out: a runtime may hand out pieces of that.
bool DeviceLedger::is_piece(uint64_t address) const {
  auto block = memory_.upper_bound(address);
  if (block != memory_.begin() && address - (--block)->first < block->second.size_bytes && !block->second.is_unseen)
    return true;
  auto mapping = mappings_.upper_bound(address);
  return mapping != mappings_.begin() && address - (--mapping)->first < mapping->second.size_bytes;
}

void DeviceLedger::release_unseen(uint64_t address, uint32_t thread) {
  unmapped_.erase(thread);  // a kKeep that follows refers to this release
  const auto at = memory_.find(address);
  if (at != memory_.end() && at->second.is_unseen) return release(address, thread);
  released_.erase(thread);
}

void DeviceLedger::begin_estimate(const DeviceEvent& device_event, uint32_t thread) {
  const auto book = books_.find(device_event.device);
  const uint64_t live_bytes = book == books_.end() ? 0 : book->second->sites.totals().live.bytes;
  begun_[thread] = {device_event.device, wire::free_of(device_event.object), live_bytes};
}

// The difference of free memory before and after is the estimate. If the free memory before is unknown, the memory that
// is in use now and not counted is an upper bound.
void DeviceLedger::end_estimate(const DeviceEvent& device_event, const Event& event) {
  const auto at = begun_.find(event.thread());
  if (at == begun_.end()) return;
  const Begun begun = at->second;
  begun_.erase(at);
  const uint64_t free_bytes = wire::free_of(device_event.address);
  if (begun.device != device_event.device || free_bytes == wire::kFreeUnknown) return;
  const bool is_bound = begun.free_bytes == wire::kFreeUnknown;
  const uint64_t before_bytes = is_bound ? event.size_bytes : begun.free_bytes;
  const uint64_t taken_bytes = before_bytes - std::min(before_bytes, free_bytes);
  DeviceBook& book = book_of(device_event.device);
  const uint64_t live_bytes = book.sites.totals().live.bytes;
  const uint64_t live_before_bytes = is_bound ? 0 : begun.live_bytes;
  const uint64_t counted_bytes = live_bytes - std::min(live_bytes, live_before_bytes);
  EstimateSum& sum = book.estimates[{static_cast<wire::EstimateKind>(device_event.object), event.site}];
  ++sum.count;
  if (is_bound) ++sum.bound_count;
  sum.size_bytes = add_saturating(sum.size_bytes, taken_bytes - std::min(taken_bytes, counted_bytes));
}

void DeviceLedger::count_call(const DeviceEvent& device_event, const Event& event, uint32_t thread_id) {
  const uint64_t call = static_cast<uint64_t>(device_event.device) << 32;
  const uint64_t duration_ticks = wire::duration_of(device_event.object);
  for (CallSum* sum : {&calls_by_site_[call | event.site], &calls_by_thread_[call | thread_id]}) {
    ++sum->count;
    sum->duration_ticks = add_saturating(sum->duration_ticks, duration_ticks);
    sum->size_bytes = add_saturating(sum->size_bytes, event.size_bytes);
  }
}

void DeviceLedger::apply(const DeviceEvent& device_event, const Event& event, uint32_t thread_id, uint64_t now_ticks) {
  now_ticks_ = std::max(now_ticks_, now_ticks);
  DeviceBlock block{event.size_bytes,
                    now_ticks_,
                    device_event.object,
                    device_event.device,
                    event.site,
                    event.thread(),
                    1,
                    device_event.operation == DeviceOperation::kAllocateFromPool,
                    false};
  switch (device_event.operation) {
    case DeviceOperation::kAllocate:
    case DeviceOperation::kAllocateFromPool:
      graph_addresses_.erase(device_event.address);
      if (!add_reference(&memory_, device_event.address, device_event.device))
        open(&memory_, device_event.address, block);
      return;
    case DeviceOperation::kAllocateUnseen: {
      if (is_piece(device_event.address)) return;
      block.is_unseen = true;
      block.context = 0;
      open(&memory_, device_event.address, block);
      Amount& unseen = book_of(device_event.device).unseen;
      unseen.bytes = add_saturating(unseen.bytes, event.size_bytes);
      ++unseen.blocks;
      return;
    }
    case DeviceOperation::kReleaseUnseen: release_unseen(device_event.address, event.thread()); return;
    case DeviceOperation::kBeginEstimate: begin_estimate(device_event, event.thread()); return;
    case DeviceOperation::kEndEstimate: end_estimate(device_event, event); return;
    case DeviceOperation::kRelease: release(device_event.address, event.thread()); return;
    case DeviceOperation::kKeep: keep(device_event.address, event.thread()); return;
    case DeviceOperation::kCreateHandle:
      block.context = 0;
      if (!add_reference(&handles_, device_event.object, device_event.device))
        open(&handles_, device_event.object, block);
      return;
    case DeviceOperation::kRetainHandle:
      if (const auto at = handles_.find(device_event.object); at != handles_.end()) {
        ++at->second.references;
      } else {
        ++unmatched_;
      }
      return;
    case DeviceOperation::kReleaseHandle:
      released_handles_.insert_or_assign(event.thread(), drop_reference(&handles_, device_event.object));
      return;
    case DeviceOperation::kKeepHandle:
      take_back(&handles_, &released_handles_, device_event.object, event.thread());
      return;
    case DeviceOperation::kMap:
      map(device_event.address, {event.size_bytes, device_event.object, 1, event.site});
      return;
    case DeviceOperation::kUnmap: unmap(device_event.address, event.size_bytes, event.thread()); return;
    case DeviceOperation::kKeepMappings: keep_mappings(event.thread()); return;
    case DeviceOperation::kEndContext:
      switch (static_cast<wire::ContextEnd>(device_event.device)) {
        case wire::ContextEnd::kMayEnd:
          if (ending_.size() < kMostEnding) {
            ending_[{device_event.object, event.thread()}] = now_ticks_;
          } else {
            ++unmatched_;
          }
          return;
        case wire::ContextEnd::kLivesOn: ending_.erase({device_event.object, event.thread()}); return;
        case wire::ContextEnd::kHasEnded: end_context(device_event.object, event.thread()); return;
      }
      return;
    case DeviceOperation::kRefuse: {
      DeviceBook& book = book_of(device_event.device);
      trace_refusal(device_event.device, device_event, event);
      return book.refused.note(device_event, event, book.sites, now_ticks_);
    }
    case DeviceOperation::kCall: count_call(device_event, event, thread_id); return;
    case DeviceOperation::kGraphAddress: graph_addresses_.insert(device_event.address); return;
    case DeviceOperation::kHold:
      book_of(device_event.device).holdings.take(device_event.object, wire::free_of(device_event.address));
      return;
    case DeviceOperation::kBeginInner:
    case DeviceOperation::kEndInner:
    case DeviceOperation::kMoveInner:
    case DeviceOperation::kResizeInner:
    case DeviceOperation::kKeepInner:
    case DeviceOperation::kRefuseInner: apply_inner(device_event, event, now_ticks); return;
    case DeviceOperation::kMapRange:  // MappingLedger's
    case DeviceOperation::kUnmapRange:
    case DeviceOperation::kMoveRange:
    case DeviceOperation::kKeepRange:
    case DeviceOperation::kProtectRange: return;
  }
}

void DeviceLedger::finish(uint64_t end_ticks) {
  now_ticks_ = std::max(now_ticks_, end_ticks);
  for (const Blocks* blocks : {&memory_, &handles_}) {
    for (const auto& [key, block] : *blocks) {
      book_of(block.device).sites.add_final_lifetime(block.site, now_ticks_ - block.birth);
      book_of(block.device).stays.leave(block.site, block.birth, block.size_bytes);
    }
  }
  for (const auto& [device, blocks] : inner_) blocks->finish(now_ticks_);
}

}  // namespace heapprof::cli
