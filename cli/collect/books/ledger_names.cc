// cli/collect/books/ledger_names.cc: the part of the ledger for names that the program gives to memory.
//
// Few blocks have a name, so a block's entry has no room for it: names of heap blocks are in a separate table, by
// address, which is read only while it is not empty. While a realloc works on a block, the block is not in the table,
// as its address may be another's by now; the realloc keeps the name.
#include "cli/collect/books/ledger_blocks.h"

#include <algorithm>
#include <new>
#include <optional>
#include <unordered_set>
#include <utility>

namespace heapprof::cli {

// If a block's begin is deferred, the previous block is still live at its address, and the name does not mean that
// block. So the name is deferred as well: all deferred events of an address are settled in the order in which they
// came.
void Ledger::on_name(const Event& event, uint32_t ring) {
  if (event.site != 0)
    return tensors_.tell(event.thread(), {event.address, static_cast<uint32_t>(event.size_bytes),
                                          static_cast<wire::TensorRole>(event.site)});
  const auto number = static_cast<uint32_t>(event.size_bytes);
  const uint32_t name = same_name_ ? same_name_(number) : number;
  if (!reorder_buffer_.empty() && reorder_buffer_.first(event.address) != nullptr) [[unlikely]]
    return defer_name(event, name, ring);
  name_memory(event.address, name);
}

void Ledger::name_memory(uint64_t address, uint32_t name) {
  try {
    if (const LiveHeap::Entry* entry = heap_.find(address)) return name_block(entry->block(address), name);
    if (devices_.name(address, name) || mappings_.name(address, name)) return;
  } catch (const std::bad_alloc&) {  // the name counts as unmatched
  }
  ++counts_.unmatched_names;
}

void Ledger::name_block(const Block& block, uint32_t name) {
  if (const auto at = names_by_address_.find(block.address); at != names_by_address_.end()) {
    if (at->second == name) return;
    names_.add(name, block.site, amount_of(block));
    remove_name(std::exchange(at->second, name), block);
    return;
  }
  names_.add(name, block.site, amount_of(block));
  try {
    names_by_address_.emplace(block.address, name);
  } catch (const std::bad_alloc&) {
    remove_name(name, block);
    throw;
  }
}

// Takes the name of the block at that address, which has ended, or which a realloc is working on. Returns 0 if it had
// no name. The caller updates the sums.
uint32_t Ledger::take_name(uint64_t address) {
  const auto at = names_by_address_.find(address);
  if (at == names_by_address_.end()) return 0;
  const uint32_t name = at->second;
  names_by_address_.erase(at);
  return name;
}

void Ledger::end_name(const Block& block) {
  if (const uint32_t name = take_name(block.address)) remove_name(name, block);
}

// If a block's begin is deferred, its name is as well, whether it is new or kept by a realloc.
void Ledger::defer_name(const Event& of, uint32_t name, uint32_t ring) {
  const Event event{of.stamp, of.address, name, 0, pack_thread(of.thread(), EventKind::kName)};
  try {
    defer(event, ring);
  } catch (const std::bad_alloc&) {
    ++counts_.unmatched_names;
  }
}

// A realloc has failed, and its block lives on.
void Ledger::relink_name(const BegunRealloc& begun) {
  try {
    names_by_address_.emplace(begun.block.address, begun.name);
  } catch (const std::bad_alloc&) {
    remove_name(begun.name, begun.block);
    ++counts_.unmatched_names;
  }
}

// ---- Tensors: looked up when the thread's snapshot comes; by then deferred events are settled ----

void Ledger::find_tensors(uint32_t thread, KeptSnapshot* snapshot) {
  std::unordered_set<uint64_t> seen;
  snapshot->lost_tensors = tensors_.take_left_out(thread);
  const auto note = [this, snapshot](uint32_t device, const KeptTensor& tensor) {
    auto at = std::find_if(snapshot->tensors.begin(), snapshot->tensors.end(),
                           [device](const KeptTensors& kept) { return kept.device == device; });
    if (at == snapshot->tensors.end()) at = snapshot->tensors.insert(at, KeptTensors{device, {}, {}});
    tensors_.keep(tensor, &*at);
  };
  for (const ToldTensor& told : tensors_.take(thread)) {
    if (!seen.insert(told.address).second) continue;
    if (const LiveHeap::Entry* entry = heap_.find(told.address)) {
      const Block block = entry->block(told.address);
      note(ScopeBook::kHost, {block.size_bytes, block.birth, block.site, told.name, told.role});
    } else if (const std::optional<DeviceBlock> block = devices_.find_tensor(told.address)) {
      note(block->device, {block->size_bytes, block->birth, block->site, told.name, told.role});
    } else {
      ++snapshot->lost_tensors;
    }
  }
}

// ---- Devices and pages: few blocks, each with its name in it ----

void DeviceLedger::name_block(DeviceBlock* block, uint32_t name) {
  if (block->name == name) return;
  NameBook& names = book_of(block->device).names;
  names.add(name, block->site, block->size_bytes);
  if (block->name != 0) names.remove(block->name, block->site, block->size_bytes);
  block->name = static_cast<uint16_t>(name);
}

// Tensors are looked up before the memory that contains them: the first tensor of a segment begins where the segment
// does. Python objects are not looked up, as an object has the address of the heap block around it.
bool DeviceLedger::name(uint64_t address, uint32_t name) {
  for (const auto& [number, blocks] : inner_)
    if (blocks.get() != objects_ && blocks->name(address, name)) return true;
  auto block = memory_.find(address);
  if (block == memory_.end()) {
    const auto mapping = mappings_.find(address);
    if (mapping == mappings_.end()) return false;
    block = handles_.find(mapping->second.handle);
    if (block == handles_.end()) return false;
  }
  name_block(&block->second, name);
  return true;
}

void MappingLedger::name_block(MappedBlock* block, uint32_t name) {
  if (block->name == name) return;
  NameBook& names = book_of(block->device).names;
  names.add(name, block->site, block->live_bytes);
  if (block->name != 0) names.remove(block->name, block->site, block->live_bytes);
  block->name = static_cast<uint16_t>(name);
}

bool MappingLedger::name(uint64_t address, uint32_t name) {
  const std::vector<PagePiece> here = ranges_.find(address, address + 1);
  if (here.empty()) return false;
  const std::vector<PagePiece> before = ranges_.find(address - 1, address);
  if (!before.empty() && before[0].block == here[0].block) return false;  // the block begins before the address
  name_block(&blocks_.at(here[0].block), name);
  return true;
}

}  // namespace heapprof::cli
