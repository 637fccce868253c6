// agent/cuda/device_limit.h: `--limit cuda:N=SIZE`: how much of a device's memory the process may have, as if the
// device had no more memory.
//
// A wrapper reserves, calls, then charges what it got or gives the reservation back. So reserved and charged memory
// together stay within the limit, whatever other threads do at the same time.
//
// Guarantees
//  - Exact to the byte, in requested bytes, for this process and session (tests/integration/cuda/cuda_limits.sh): a
//    forked child begins with nothing.
//  - A reservation that does not fit changes nothing.
//  - If there is no memory for the table, a block is not tracked, and does not count. Memory with a mapping that is not
//    tracked counts until the process ends.
// Context:  wrappers of driver functions, which no signal handler may call. A spin lock in the fork page; no allocation
//           but mmap.
// Cost:     one load if there is no limit.
#pragma once

#include <stdint.h>

namespace heapprof::agent {

struct DeviceMemory {
  uint64_t key;  // its address, or its handle
  uint32_t device;
  uint64_t size_bytes;
  uint64_t context;  // its end ends this memory, too; 0: none
};

// Bytes that the process may have of the device; UINT64_MAX: no limit.
uint64_t device_limit(uint32_t device);
bool has_device_limits();

// False: it exceeds the limit.
bool reserve_device_memory(uint32_t device, uint64_t size_bytes);
void return_device_memory(uint32_t device, uint64_t size_bytes);
// Corrects a reservation whose memory turned out to be of another size or on another device. False: that exceeds the
// limit; the reservation is gone.
bool correct_reservation(uint32_t device, uint64_t size_bytes, const DeviceMemory& actual);
uint64_t charged_device_memory(uint32_t device);  // including reservations

// Charges memory that was reserved before.
void charge_address(const DeviceMemory& memory);
void charge_handle(const DeviceMemory& memory);
// Takes memory out of the table before it is freed: when the free returns, another thread may have the address. The
// memory still counts until return_device_memory(). False: it was not charged.
bool take_address(uint64_t address, DeviceMemory* taken);
// Adds a reference to a handle's memory. Its mappings are references, too.
void retain_handle(uint64_t handle);
// Removes a reference before the call that releases it, like take_address. True: it was the last, and the memory counts
// until return_device_memory().
bool take_handle(uint64_t handle, DeviceMemory* taken);
void charge_mapping(uint64_t address, uint64_t size_bytes, uint64_t handle);
// Takes mappings out of the table before they end, like take_address. The memory counts until end_unmapping() says
// whether they ended.
void begin_unmapping(uint64_t address, uint64_t size_bytes);
void end_unmapping(uint64_t address, uint64_t size_bytes, bool is_done);
// Likewise for memory that was allocated in a context that may end.
void begin_context_end(uint64_t context);
void finish_context_end(uint64_t context, bool is_over);

}  // namespace heapprof::agent
