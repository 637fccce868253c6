// cli/collect/books/device_ledger_inner.cc: blocks inside a device's memory have a book of their own among the devices'
// books, under a number of their own. So code that visits the devices' books finds this book as well.
#include "cli/collect/books/device_ledger.h"

#include <algorithm>

namespace heapprof::cli {

std::string device_name(uint32_t device) {
  if (device >= kInnerOfCuda) return device_name(device - kInnerOfCuda) + "/tensors";
  switch (device) {
    case wire::kPinnedDevice: return "pinned";
    case wire::kManagedDevice: return "managed";
    case wire::kImportedDevice: return "imported";
    case wire::kRegisteredDevice: return "registered";
    case wire::kMappedDevice: return "mapped";
    case wire::kMappedFileDevice: return "mapped:file";
    case wire::kReservedDevice: return "mapped:reserved";
    case wire::kPythonDevice: return "python";
    default: break;
  }
  return device >= wire::kFirstCudaDevice ? "cuda:" + std::to_string(device - wire::kFirstCudaDevice) : "cuda:?";
}

InnerChange DeviceLedger::apply_inner(const DeviceEvent& device_event, const Event& event, uint64_t now_ticks) {
  now_ticks_ = std::max(now_ticks_, now_ticks);
  const bool is_object = device_event.device == wire::kPythonDevice;
  InnerBlocks* blocks = is_object ? objects_ : nullptr;
  if (blocks == nullptr) {
    const uint32_t number = inner_number(device_event.device);
    std::unique_ptr<InnerBlocks>& made = inner_[number];
    if (made == nullptr) made = std::make_unique<InnerBlocks>(&book_of(number));
    if (!is_object && trace_.is_on()) made->trace_into(&trace_, number);
    blocks = made.get();
    if (is_object) objects_ = blocks;
  }
  if (device_event.operation == wire::DeviceOperation::kRefuseInner) {
    DeviceBook& book = book_of(inner_number(device_event.device));
    trace_refusal(inner_number(device_event.device), device_event, event);
    book.refused.note(device_event, event, book.sites, now_ticks_);
    segments_[device_event.device].at_refusal = look_at_segments(device_event.device);
    return {};
  }
  const InnerChange change = blocks->apply(device_event.operation, device_event.address, event, now_ticks_);
  if (!is_object && change.allocated.blocks != 0)
    enter_segments(device_event.device, device_event.address, event.size_bytes);
  return change;
}

void DeviceLedger::stop_growing() {
  for (const auto& [device, blocks] : inner_) blocks->stop_growing();
}

uint64_t DeviceLedger::unmatched() const {
  uint64_t unmatched = unmatched_;
  for (const auto& [device, blocks] : inner_) unmatched += blocks->unmatched() - (inherits_ ? blocks->foreign() : 0);
  return unmatched;
}

uint64_t DeviceLedger::inner_bytes() const {
  uint64_t bytes = 0;
  for (const auto& [device, blocks] : inner_) bytes += blocks->bytes();
  return bytes;
}

std::optional<DeviceBlock> DeviceLedger::find_tensor(uint64_t address) {
  for (const auto& [device, blocks] : inner_) {
    if (device == wire::kPythonDevice) continue;
    if (const std::optional<Block> block = blocks->find(address))
      return DeviceBlock{block->size_bytes, block->birth, 0, device, block->site, block->thread, 1, false, false};
  }
  const auto block = memory_.find(address);
  return block == memory_.end() ? std::nullopt : std::optional(block->second);
}

}  // namespace heapprof::cli
