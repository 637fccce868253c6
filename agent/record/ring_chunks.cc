// agent/record/ring_chunks.cc: see ring_chunks.h.
//
// The next chunk is noted in the context before its bit is set, and its begin before the kChunk record is published. So
// an event that is abandoned at any instruction in between (siglongjmp out of a handler) leaves one of two states. If
// the published head is past the kChunk record, the chunk is entered; if not, its bit is cleared. Only this ring's
// producer sets bits of the low half, so a bit that was not set yet stays clear.
#include "agent/record/ring_chunks.h"

#include "agent/process/arena.h"
#include "shared/events.h"

namespace heapprof::agent {

namespace {

void set_resident(wire::RingHeader* header, uint32_t bit) {
  if ((header->resident.fetch_or(bit, std::memory_order_relaxed) & bit) != 0) return;
  g_control->resident_chunks.fetch_add(1, std::memory_order_relaxed);
}

// True if a ring whose resident chunks are `resident` may grow without waiting for the collector.
bool may_grow_freely(uint32_t resident) {
  for (uint32_t i = 1; i < wire::kSmallChunks; ++i) resident &= resident - 1;  // without the lowest bit
  return resident == 0 || g_control->resident_chunks.load(std::memory_order_relaxed) < wire::kMostCalmChunks;
}

// Notes that no chunk follows the current one. The order matters: once the counts are equal, next_chunk is not read.
void forget_next(Context* context) {
  context->next_count = context->chunk_count;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  context->next_chunk = context->chunk;
}

void find_offsets(Context* context) {
  context->base = reinterpret_cast<uint64_t>(context->data) + context->chunk * wire::kChunkBytes - context->chunk_count;
  context->limit = context->chunk_count + wire::kChunkBytes - wire::kUnitBytes;
}

}  // namespace

void begin_ring(Context* context) {
  context->header->chunks.fetch_or(1, std::memory_order_relaxed);
  set_resident(context->header, 1);
  context->pressed_tail = ~uint64_t{0};
  find_offsets(context);
}

void resume_ring(Context* context) {
  context->head = context->header->head.load(std::memory_order_relaxed);
  if (context->next_count != context->chunk_count) {
    if (context->head >= context->next_count) {
      context->chunk = context->next_chunk;
      std::atomic_signal_fence(std::memory_order_seq_cst);
      context->chunk_count = context->next_count;
    } else {
      context->header->chunks.fetch_and(~(uint64_t{1} << context->next_chunk), std::memory_order_release);
      forget_next(context);
    }
  }
  find_offsets(context);
}

void point_ring_to(Context* context, unsigned char* data) {
  context->data = data;
  find_offsets(context);
}

bool take_chunk(Context* context, bool may_grow) {
  wire::RingHeader* header = context->header;
  uint64_t chunks = header->chunks.load(std::memory_order_acquire);  // pairs with (E)
  for (;;) {
    const uint32_t resident = header->resident.load(std::memory_order_relaxed);
    const uint32_t free = wire::ring_chunks(context->ring) & ~static_cast<uint32_t>(chunks | chunks >> 32);
    uint32_t wanted = free & resident;
    if (wanted == 0) wanted = may_grow || may_grow_freely(resident) ? free : 0;
    if (wanted == 0) {
      forget_next(context);
      return false;
    }
    const uint32_t chunk = static_cast<uint32_t>(__builtin_ctz(wanted));
    forget_next(context);
    context->next_chunk = chunk;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    context->next_count = context->head + wire::kUnitBytes;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    if (g_fork_page.state != AgentState::kOn) return false;  // a child that a handler forked: the ring is its parent's
    if (header->chunks.compare_exchange_strong(chunks, chunks | uint64_t{1} << chunk, std::memory_order_acq_rel)) {
      set_resident(header, uint32_t{1} << chunk);
      return true;
    }
  }
}

void enter_chunk(Context* context) {
  context->chunk = context->next_chunk;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  context->chunk_count = context->next_count;
  find_offsets(context);
}

}  // namespace heapprof::agent
