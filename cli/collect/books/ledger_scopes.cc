// cli/collect/books/ledger_scopes.cc: the part of the ledger for scopes and marks, the effect of device operations on
// scopes, and snapshots.
//
// One operation may begin memory and end other memory, also on another device. So its effect is computed from the
// books: the totals of its site say what it allocated, and the live sums then say what it freed.
#include "cli/collect/books/ledger.h"
#include "shared/scopes.h"

#include <algorithm>
#include <new>
#include <utility>
#include <vector>

namespace heapprof::cli {

// Calls visit(device number, book) for every device except the host.
template <typename Visitor>
void Ledger::for_each_book(const Visitor& visit) {
  for (const auto& [number, book] : devices_.books()) visit(number, *book);
  for (uint32_t number = wire::kMappedDevice; number <= wire::kReservedDevice; ++number) {
    if (DeviceBook* book = mappings_.book(number)) visit(number, *book);
  }
}

void Ledger::apply_device_in_scope(const DeviceEvent& device_event, const Event& event, uint32_t stack) {
  if (device_event.operation == wire::DeviceOperation::kCall) {
    scopes_.call(stack, static_cast<wire::DeviceCall>(device_event.device), wire::duration_of(device_event.object),
                 event.size_bytes);
    return book_device(device_event, event);
  }
  struct Before {
    uint32_t device;
    Amount live;
    Amount allocated;
  };
  const auto allocated_by_site = [&event](const DeviceBook& book) {
    return event.site < book.sites.size() ? book.sites[event.site].total : Amount{};
  };
  std::vector<Before> before;
  for_each_book([&](uint32_t device, const DeviceBook& book) {
    before.push_back({device, book.sites.totals().live, allocated_by_site(book)});
  });
  book_device(device_event, event);
  for_each_book([&](uint32_t device, const DeviceBook& book) {
    const auto found =
        std::find_if(before.begin(), before.end(), [device](const Before& b) { return b.device == device; });
    const Before was = found == before.end() ? Before{device, {}, {}} : *found;
    const Amount live = book.sites.totals().live;
    const Amount site = allocated_by_site(book);
    const Amount allocated{site.bytes - was.allocated.bytes, site.blocks - was.allocated.blocks};
    const Amount freed{was.live.bytes + allocated.bytes - live.bytes, was.live.blocks + allocated.blocks - live.blocks};
    if (allocated.bytes != 0 || allocated.blocks != 0 || freed.bytes != 0 || freed.blocks != 0)
      scopes_.change(stack, device, allocated, freed);
  });
}

void Ledger::tell_devices_live() {
  InstanceBook::DevicesLive live;
  for_each_book([&live](uint32_t device, const DeviceBook& book) {
    if (const uint64_t bytes = book.sites.totals().live.bytes; bytes != 0) live.emplace_back(device, bytes);
  });
  scopes_.set_devices_live(std::move(live));
  devices_changed_ = false;
}

void Ledger::apply_scope(const Event& event) {
  ThreadSlot& thread = threads_[event.thread()];
  if (event.kind() == EventKind::kLaunch)
    return launches_.note(scopes_.path_of(thread.scopes), {event.address, event.size_bytes});
  if (event.kind() == EventKind::kLaunches) {
    if (thread.scopes != 0) scopes_.launch_kernels(thread.scopes, event.size_bytes);
    return;
  }
  const uint64_t id = wire::scope_id(event.address);
  const uint32_t name = wire::scope_name(event.address);
  const uint64_t ticks = event.size_bytes;
  note_live(thread.id);
  switch (wire::scope_operation(event.address)) {
    case wire::ScopeOperation::kBegin:
      thread.scopes = scopes_.begin(thread.scopes, name, id, ticks, event.site);
      return;
    case wire::ScopeOperation::kEnd: thread.scopes = scopes_.end(thread.scopes, id, ticks); return;
    case wire::ScopeOperation::kLeave: thread.scopes = scopes_.leave(thread.scopes, id, ticks); return;
    case wire::ScopeOperation::kEnter: thread.scopes = scopes_.enter(thread.scopes, id, ticks); return;
    case wire::ScopeOperation::kBeginApart: return scopes_.begin_apart(name, id, ticks);
    case wire::ScopeOperation::kEndOnly: thread.scopes = scopes_.end_only(thread.scopes, id, ticks); return;
    case wire::ScopeOperation::kItems: return scopes_.add_items(thread.scopes, id, event.size_bytes);
    case wire::ScopeOperation::kNameBlock: return;  // a separate event kind
    case wire::ScopeOperation::kPause:
      has_paused_ = true;
      ++thread.pauses;
      return;
    case wire::ScopeOperation::kResume:
      if (thread.pauses != 0) --thread.pauses;
      return;
    case wire::ScopeOperation::kGpuBegin: return gpu_times_.begin(scopes_.path_of(thread.scopes), id);
    case wire::ScopeOperation::kGpuTime: return gpu_times_.add(id, event.size_bytes);
    case wire::ScopeOperation::kTensor: return;  // likewise
    case wire::ScopeOperation::kSnapshot: return take_own_snapshot(name, event.thread(), ticks, id != 0);
    case wire::ScopeOperation::kMark:
      mark(name, event.thread(), ticks);
      if (on_mark_) on_mark_(name);
      if (snapshots_at_marks_) take_snapshot({ticks == 0 ? now_ticks_ : ticks, true, name, thread.id, {}});
      return;
  }
}

void Ledger::mark(uint32_t name, uint32_t thread, uint64_t ticks) {
  MarkedMoment moment{
      name, threads_[thread].id, ticks == 0 ? now_ticks_ : ticks, {{ScopeBook::kHost, sites_.totals().live}}};
  for_each_book(
      [&](uint32_t device, const DeviceBook& book) { moment.live.emplace_back(device, book.sites.totals().live); });
  scopes_.mark(std::move(moment));
  now_ticks_ = bounds_.add_mark(now_ticks_, ticks == 0 ? now_ticks_ : ticks);
}

// Takes a snapshot that the program asked for, even if no snapshots are taken by time or at marks.
void Ledger::take_own_snapshot(uint32_t name, uint32_t thread, uint64_t ticks, bool with_tensors) {
  mark(name, thread, ticks);
  if (!snapshots_.is_on()) {
    snapshots_.start();
    largest_.start();
  }
  KeptSnapshot snapshot{ticks == 0 ? now_ticks_ : ticks, true, name, threads_[thread].id, {}};
  try {
    if (with_tensors) find_tensors(thread, &snapshot);
  } catch (const std::bad_alloc&) {
    snapshots_.give_up();
  }
  take_snapshot(std::move(snapshot));
}

namespace {

// Collects the largest of a device's blocks as they are visited.
class Largest {
 public:
  void note(const KeptBlock& block) {
    if (blocks_.size() == SnapshotBook::kLargest && block.size_bytes <= blocks_.back().size_bytes) return;
    if (blocks_.size() == SnapshotBook::kLargest) blocks_.pop_back();
    const auto at = std::upper_bound(blocks_.begin(), blocks_.end(), block, [](const KeptBlock& a, const KeptBlock& b) {
      return a.size_bytes > b.size_bytes;
    });
    blocks_.insert(at, block);
  }
  std::vector<KeptBlock> take() { return std::move(blocks_); }

 private:
  std::vector<KeptBlock> blocks_;
};

}  // namespace

std::vector<SnapshotBook::Look> Ledger::look_at_all() {
  std::vector<SnapshotBook::Look> looks;
  const auto of_heap = [](const Block& block) { return KeptBlock{block.size_bytes, block.birth, block.site}; };
  Largest host;
  for (const Block& block : largest_.find(&heap_)) host.note(of_heap(block));
  for_each_begun([&](const Block& block) { host.note(of_heap(block)); });
  looks.push_back({ScopeBook::kHost, &sites_, host.take()});
  for_each_book([&](uint32_t device, const DeviceBook& book) {
    Largest largest;
    if (wire::is_mapping(device)) {
      mappings_.for_each_live(device, [&](const MappedBlock& block) {
        largest.note({block.live_bytes, block.birth, block.site});
      });
    } else {
      devices_.for_each_live(device, [&](const DeviceBlock& block) {
        largest.note({block.size_bytes, block.birth, block.site});
      });
    }
    looks.push_back({device, &book.sites, largest.take()});
  });
  return looks;
}

void Ledger::take_snapshot(KeptSnapshot&& moment) {
  if (!snapshots_.make_room(moment.is_mark)) return;
  std::vector<SnapshotBook::Look> looks;
  try {
    looks = look_at_all();
  } catch (const std::bad_alloc&) {
    snapshots_.give_up();
    return;
  }
  if (!moment.is_mark) now_ticks_ = bounds_.add_mark(now_ticks_, moment.ticks);  // a mark already has a bound
  snapshots_.take(std::move(moment), looks);
}

}  // namespace heapprof::cli
