// agent/cuda/device_limit.h: `--limit cuda:N=SIZE`: how much of a device's memory the process may have, as if the
// device had no more.
//
// A wrapper reserves, calls, then charges what it got or gives the reservation back. So what is reserved and charged
// together does not exceed the limit, whatever other threads do meanwhile.
//
// Guarantees
//  - To the byte, in requested bytes, for this process and its life (tests/integration/cuda/cuda_limits.sh): a forked
//    child begins with nothing.
//  - A reservation that does not fit changes nothing.
//  - Where the table finds no memory a block is not followed: it counts until the process ends.
// Context:  wrappers of driver functions, which no signal handler may call. A spin lock of the fork page; no allocation
//           but mmap.
// Cost:     one load where there is no limit.
#pragma once

#include <stdint.h>

namespace heapprof::agent {

struct DeviceMemory {
  uint64_t key;  // its address, or the handle behind which it is
  uint32_t device;
  uint64_t size_bytes;
  uint64_t context;  // whose end is its end; 0: none
};

// Bytes that the process may have of the device; UINT64_MAX: no limit.
uint64_t device_limit(uint32_t device);
bool has_device_limits();

// False: it does not fit.
bool reserve_device_memory(uint32_t device, uint64_t size_bytes);
void return_device_memory(uint32_t device, uint64_t size_bytes);
// Corrects a reservation whose memory turned out to be of another size, or another device's. False: that does not fit;
// the reservation is gone.
bool correct_reservation(uint32_t device, uint64_t size_bytes, const DeviceMemory& actual);
uint64_t charged_device_memory(uint32_t device);  // with what is reserved

// Charges memory that was reserved before.
void charge_address(const DeviceMemory& memory);
void charge_handle(const DeviceMemory& memory);
// Takes memory out of the table before it is freed: when the free returns, another thread may have the address. It
// counts until return_device_memory(). False: it is not charged.
bool take_address(uint64_t address, DeviceMemory* taken);
// One more reference to the memory behind a handle. Its mappings are references, too.
void retain_handle(uint64_t handle);
// Takes a reference before it is released, as take_address does. True: it was the last, and the memory counts until
// return_device_memory().
bool take_handle(uint64_t handle, DeviceMemory* taken);
void charge_mapping(uint64_t address, uint64_t size_bytes, uint64_t handle);
// Takes mappings out before they end, as take_address does. The memory counts until end_unmapping() says that they
// ended, or live on.
void begin_unmapping(uint64_t address, uint64_t size_bytes);
void end_unmapping(uint64_t address, uint64_t size_bytes, bool is_done);
// The same for memory that was allocated in a context which may end.
void begin_context_end(uint64_t context);
void finish_context_end(uint64_t context, bool is_over);

}  // namespace heapprof::agent
