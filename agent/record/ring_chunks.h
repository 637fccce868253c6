// agent/record/ring_chunks.h: which part of a ring is written to: as little of it as will do.
//
// A ring has 32 chunks of 32 KiB (8, if it is a small one). Its producer fills one after the other and takes, when one
// is full, a chunk that the collector has read: while the collector keeps up, the same two all the time, so that they
// are all the memory that the ring has. If there is none, another one is taken, up to the whole ring; the collector
// gives the memory of those that were not needed for a while back to the system.
//
// Where all rings together have kMostCalmChunks, a ring that has its kSmallChunks waits for the collector before it
// grows, as long as that makes progress: hundreds of threads at two cores would all fill 1 MiB otherwise before the
// collector has its turn, and gain nothing by it.
//
// Guarantees
//  - A chunk is written to by one side at a time: a bit of RingHeader::chunks says by which.
//  - Whatever an event that was left half way had begun, resume_ring() goes on behind the last published record, and no
//    chunk is lost.
//
// Context:  between begin_event and end_event; begin_ring and resume_ring: nothing else uses the context.
// Order:    (E) a chunk's bit is acquire-loaded before the chunk is written to.
#pragma once

#include "agent/record/context.h"

namespace heapprof::agent {

// A ring that nobody has used: its first chunk is taken.
void begin_ring(Context* context);
// Sets head, base and limit by what has been published.
void resume_ring(Context* context);
// From here on the ring's data are elsewhere, at `data`, of a large ring's size.
void lead_ring_to(Context* context, unsigned char* data);

// Takes the chunk to be written to next, context->next_chunk. False: there is none, or none without waiting.
bool take_chunk(Context* context, bool may_grow);
// The chunk that was taken is the current one. pre: the kChunk record that leads to it is published.
void enter_chunk(Context* context);

}  // namespace heapprof::agent
