// agent/record/ring_chunks.h: chooses the part of a ring that is written to, so that as little of the ring as possible
// takes memory.
//
// A ring has 32 chunks of 32 KiB (8 in a small ring). When a chunk is full, the producer takes one that the collector
// has read. While the collector keeps up, the producer alternates between two chunks, and they are all the memory that
// the ring takes. If no read chunk is left, the producer takes an unused one, up to the whole ring. The collector
// returns the memory of chunks that were not needed for a while to the system.
// If all rings together have kMostCalmChunks resident chunks, a ring that has its kSmallChunks waits for the collector
// before it grows, as long as the collector makes progress. Otherwise hundreds of threads on two cores would each fill
// 1 MiB before the collector has its turn, and gain nothing by it.
//
// Guarantees
//  - One side at a time writes to a chunk: a bit of RingHeader::chunks says which.
//  - Wherever an event was abandoned, resume_ring() continues after the last published record, and no chunk is lost.
//
// Context:  between begin_event and end_event; begin_ring and resume_ring: nothing else uses the context.
// Order:    (E) a chunk's bit is acquire-loaded before the chunk is written to.
#pragma once

#include "agent/record/context.h"

namespace heapprof::agent {

// Begins an unused ring: takes its first chunk.
void begin_ring(Context* context);
// Sets head, base and limit from what has been published.
void resume_ring(Context* context);
// From this call on, the ring's data are at `data`, which has the size of a large ring.
void point_ring_to(Context* context, unsigned char* data);

// Takes the chunk to be written to next, context->next_chunk. False: no chunk is free, or only after waiting.
bool take_chunk(Context* context, bool may_grow);
// Makes the chunk that was taken the current one. pre: the kChunk record that refers to it is published.
void enter_chunk(Context* context);

}  // namespace heapprof::agent
