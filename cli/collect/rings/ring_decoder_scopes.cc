// cli/collect/rings/ring_decoder_scopes.cc: records in which a program describes its own work: scopes, names of blocks,
// launches.
#include "cli/collect/rings/ring_decoder.h"
#include "shared/kernels.h"
#include "shared/scopes.h"

#include <utility>

namespace heapprof::cli {

using wire::RecordType;

// If scopes are as short as a few allocations, their records often follow one another. This loop avoids entering the
// loop of the most frequent records for each.
bool RingDecoder::decode_scopes(uint64_t head, const DecodeLimits& limits, std::span<Event> batch, Cursor* cursor) {
  while (cursor->position < head && cursor->events < batch.size()) {
    const wire::Record record{load(cursor->position), load(cursor->position + sizeof(uint64_t))};
    if (wire::record_type(record.w0) != RecordType::kScope) return true;
    cursor->position += wire::kUnitBytes;
    if (!decode_scope(record, limits, batch, cursor)) return false;
  }
  return true;
}

bool RingDecoder::decode_scope(wire::Record record, const DecodeLimits& limits, std::span<Event> batch,
                               Cursor* cursor) {
  using wire::ScopeOperation;
  const ScopeOperation operation = wire::scope_operation(record.w0);
  const uint32_t name = wire::scope_name(record.w0);
  const bool is_tensor = operation == ScopeOperation::kTensor;
  const bool is_of_block = operation == ScopeOperation::kNameBlock || is_tensor;
  const bool has_name = operation == ScopeOperation::kBegin || operation == ScopeOperation::kMark ||
                        operation == ScopeOperation::kBeginApart || operation == ScopeOperation::kSnapshot ||
                        operation == ScopeOperation::kNameBlock || (is_tensor && name != 0);
  if (operation < ScopeOperation::kBegin) return refuse();
  const uint32_t operator_word = operation == ScopeOperation::kBegin ? take_operator() : 0;
  if (prefix_.has_any != is_of_block) return refuse();
  if (has_name != (name != 0) || (name > wire::kMaxNames && name != wire::kOtherName)) return refuse();
  const bool is_of_pause = operation == ScopeOperation::kPause || operation == ScopeOperation::kResume;
  const bool is_snapshot = operation == ScopeOperation::kSnapshot;
  const bool may_have_id =
      operation != ScopeOperation::kMark && operation != ScopeOperation::kNameBlock && !is_of_pause;
  const bool must_have_id = may_have_id && operation != ScopeOperation::kEndOnly && !is_snapshot;
  if (is_tensor && !wire::is_tensor_role(wire::scope_id(record.w0))) return refuse();
  if (is_snapshot && wire::scope_id(record.w0) > 1) return refuse();
  const bool has_id = wire::scope_id(record.w0) != 0;
  if (has_id ? !may_have_id : must_have_id) return refuse();
  if (is_of_block) return decode_block_name(record, limits, batch, cursor);
  Event event{cursor->last_stamp, record.w0, record.w1, operator_word, pack_thread(thread_, EventKind::kScope)};
  const bool is_unstamped = operation == ScopeOperation::kItems || operation == ScopeOperation::kGpuBegin ||
                            operation == ScopeOperation::kGpuTime;
  if (!is_unstamped) {
    event.stamp = cursor->last_stamp = stamp_of(record.w1, limits, cursor->last_stamp);
    event.size_bytes = has_scope_time_ ? scope_time_ : event.stamp;
    has_scope_time_ = false;
  }
  batch[cursor->events++] = event;
  return true;
}

// Takes the prefix that makes the new scope an operator; 0: it has no such prefix. Any other prefix stays, and is
// refused.
uint32_t RingDecoder::take_operator() {
  const bool is_alone = prefix_.has_size && !prefix_.has_address && !prefix_.is_truncated && !prefix_.has_device;
  const bool is_word = (prefix_.size_bytes & wire::kOperator) != 0 && prefix_.size_bytes <= UINT32_MAX;
  if (!is_alone || !is_word) return 0;
  return static_cast<uint32_t>(std::exchange(prefix_, {}).size_bytes);
}

bool RingDecoder::decode_block_name(wire::Record record, const DecodeLimits& limits, std::span<Event> batch,
                                    Cursor* cursor) {
  const Prefix prefix = std::exchange(prefix_, {});
  const bool has_other = prefix.has_size || prefix.has_device || prefix.is_truncated;
  if (has_other || prefix.address == 0) return refuse();
  cursor->last_stamp = stamp_of(record.w1, limits, cursor->last_stamp);
  batch[cursor->events++] = {cursor->last_stamp, prefix.address, wire::scope_name(record.w0),
                             static_cast<uint32_t>(wire::scope_id(record.w0)), pack_thread(thread_, EventKind::kName)};
  return true;
}

bool RingDecoder::decode_launch(wire::Record record, std::span<Event> batch, Cursor* cursor) {
  const uint32_t kernel = wire::launched_kernel(record.w0);
  const bool is_graph = kernel == wire::kGraphLaunch;
  const bool is_name = (kernel != 0 && kernel <= wire::kMaxKernels) || kernel >= wire::kUnnamedKernel;
  if (prefix_.has_any || !(is_name || is_graph) || record.w1 >> 63 != 0) return refuse();
  if (is_graph && record.w0 != wire::pack_graph_launch(0).w0) return refuse();
  batch[cursor->events++] = {cursor->last_stamp, record.w0, record.w1, 0, pack_thread(thread_, EventKind::kLaunch)};
  return true;
}

}  // namespace heapprof::cli
