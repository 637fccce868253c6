// cli/collect/books/reorder_buffer.cc: see reorder_buffer.h.
#include "cli/collect/books/reorder_buffer.h"

#include <algorithm>

namespace heapprof::cli {

uint64_t ReorderBuffer::defer(uint64_t stamp, const Event& event, uint32_t ring, uint32_t scope_path,
                              bool is_in_pause) {
  return defer(stamp, {event, ring, 0, scope_path, is_in_pause, false});
}

uint64_t ReorderBuffer::defer(uint64_t stamp, ParkedEvent deferred) {
  deferred.id = next_id_++;
  by_address_[deferred.event.address].push_back(deferred);
  by_age_.push_back({stamp, deferred.event.address, deferred.id});
  return deferred.id;
}

std::vector<uint64_t> ReorderBuffer::addresses() const {
  std::vector<uint64_t> addresses;
  addresses.reserve(by_address_.size());
  for (const auto& [address, events] : by_address_) addresses.push_back(address);
  std::sort(addresses.begin(), addresses.end());
  return addresses;
}

const ParkedEvent* ReorderBuffer::first(uint64_t address) const {
  const auto at = by_address_.find(address);
  return at == by_address_.end() ? nullptr : &at->second.front();
}

ParkedEvent ReorderBuffer::take_first(uint64_t address) {
  const auto at = by_address_.find(address);
  const ParkedEvent deferred = at->second.front();
  at->second.pop_front();
  if (at->second.empty()) by_address_.erase(at);
  if (by_address_.empty()) by_age_.clear();
  return deferred;
}

ParkedEvent* ReorderBuffer::find(uint64_t address, uint64_t id) {
  const auto at = by_address_.find(address);
  if (at == by_address_.end()) return nullptr;
  for (ParkedEvent& deferred : at->second) {
    if (deferred.id == id) return &deferred;
  }
  return nullptr;
}

void ReorderBuffer::remove(uint64_t address, uint64_t id) {
  const auto at = by_address_.find(address);
  if (at == by_address_.end()) return;
  std::erase_if(at->second, [id](const ParkedEvent& deferred) { return deferred.id == id; });
  if (at->second.empty()) by_address_.erase(at);
  if (by_address_.empty()) by_age_.clear();
}

uint64_t ReorderBuffer::overdue(uint64_t latest_stamp) {
  while (!by_age_.empty()) {
    const Waiting& oldest = by_age_.front();
    const ParkedEvent* deferred = first(oldest.address);
    if (deferred != nullptr && deferred->id == oldest.id) return oldest.stamp <= latest_stamp ? oldest.address : 0;
    by_age_.pop_front();  // gone: events of one address leave in the order in which they came, or are removed
  }
  return 0;
}

}  // namespace heapprof::cli
