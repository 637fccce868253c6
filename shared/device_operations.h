// shared/device_operations.h: the list of device operations as a table, and whether a record is one that an agent
// writes.
//
// Trust:  the target writes a record's fields: the collector relies only on what is_sound() checks.
#pragma once

#include "shared/events.h"

namespace heapprof::wire {

enum class OperationEffect : uint8_t { kNone, kBegins, kEnds, kResumes };
enum class OperationDevice : uint8_t { kAny, kMemory, kMemoryOrHost, kPages, kMappedPages, kCall, kInner };
enum class OperationObject : uint8_t { kAny, kSome, kBytes, kHolding, kEstimate };
enum class OperationRange : uint8_t { kNoRange, kOfSize, kOfObject };

struct OperationLaw {
  DeviceOperation operation;
  const char* name;
  RecordType record;
  OperationEffect effect;
  OperationDevice device;
  OperationObject object;
  OperationRange range;
};

inline constexpr OperationLaw kDeviceOperations[] = {
#define X(name, number, record, effect, device, object, range) \
  {DeviceOperation::name,   #name,                             \
   RecordType::record,      OperationEffect::effect,           \
   OperationDevice::device, OperationObject::object,           \
   OperationRange::range},
    HEAPPROF_DEVICE_OPERATIONS(X)
#undef X
};

// Operations are numbered by line, from 1 and without gaps: a record's number is the index of its OperationLaw + 1.
constexpr bool are_numbered_by_line() {
  uint32_t line = 0;
  for (const OperationLaw& law : kDeviceOperations) {
    if (static_cast<uint32_t>(law.operation) != ++line) return false;
  }
  return true;
}
static_assert(are_numbered_by_line());

constexpr bool is_operation(DeviceOperation operation) {
  return operation != DeviceOperation{} &&
         static_cast<uint32_t>(operation) <= sizeof kDeviceOperations / sizeof kDeviceOperations[0];
}
// pre: is_operation(operation)
constexpr const OperationLaw& law_of(DeviceOperation operation) {
  return kDeviceOperations[static_cast<uint32_t>(operation) - 1];
}

// True for operations about pages that the program mapped. The collector accounts for these separately.
constexpr bool is_about_pages(DeviceOperation operation) {
  return is_operation(operation) &&
         (law_of(operation).range != OperationRange::kNoRange || operation == DeviceOperation::kKeepRange);
}

// True for operations about blocks inside memory that is counted already.
constexpr bool is_about_inner(DeviceOperation operation) {
  return is_operation(operation) && law_of(operation).device == OperationDevice::kInner;
}

struct OperationFields {
  RecordType record;
  uint32_t device;
  uint64_t object;
  uint64_t address;
  uint64_t size_bytes;
};

constexpr bool is_sound_device(OperationDevice law, uint32_t device) {
  switch (law) {
    case OperationDevice::kAny: return true;
    case OperationDevice::kMemory: return is_device(device);
    case OperationDevice::kMemoryOrHost: return is_device(device) || device == kHostDevice;
    case OperationDevice::kPages: return is_mapping(device);
    case OperationDevice::kMappedPages: return device == kMappedDevice || device == kReservedDevice;
    case OperationDevice::kCall: return device_call_name(device) != nullptr;
    case OperationDevice::kInner: return has_inner(device);
  }
  return false;
}

constexpr bool is_sound_object(OperationObject law, uint64_t object) {
  switch (law) {
    case OperationObject::kAny:
    case OperationObject::kBytes: return true;
    case OperationObject::kSome: return object != 0;
    case OperationObject::kHolding: return held_plus_one(object) != 0 && holding_of(object) < kHoldings;
    case OperationObject::kEstimate: return is_estimate_kind(object);
  }
  return false;
}

// Whether the fields are sound for the operation; no agent writes others.
constexpr bool is_sound(DeviceOperation operation, const OperationFields& fields) {
  if (!is_operation(operation)) return false;
  const OperationLaw& law = law_of(operation);
  if (law.record != fields.record || !is_sound_device(law.device, fields.device) ||
      !is_sound_object(law.object, fields.object))
    return false;
  return law.range == OperationRange::kNoRange ||
         is_range(fields.address, law.range == OperationRange::kOfSize ? fields.size_bytes : fields.object);
}

static_assert(law_of(DeviceOperation::kKeepHandle).effect == OperationEffect::kResumes);
static_assert(is_about_pages(DeviceOperation::kMapRange) && is_about_pages(DeviceOperation::kKeepRange) &&
              !is_about_pages(DeviceOperation::kUnmap) && !is_about_pages(DeviceOperation::kKeepHandle));

}  // namespace heapprof::wire
