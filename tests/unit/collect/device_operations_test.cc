// tests/unit/collect/device_operations_test.cc: the list of device operations is what shared/devices.md shows, and what
// the decoder lets through.
#include "shared/device_operations.h"

#include "tests/support/data_path.h"

#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

using namespace heapprof::wire;

namespace {

std::vector<std::string> rows_of_page() {
  std::ifstream file(heapprof::test::data_path("/../shared/devices.md"));
  std::vector<std::string> rows;
  bool is_in = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) is_in = line == "## Device operations";
    if (is_in && line.starts_with("| `")) rows.push_back(line);
  }
  return rows;
}

std::string word(OperationEffect effect) {
  switch (effect) {
    case OperationEffect::kNone: return "";
    case OperationEffect::kBegins: return "begins";
    case OperationEffect::kEnds: return "ends";
    case OperationEffect::kResumes: return "lives on";
  }
  return "?";
}
std::string word(OperationDevice device) {
  switch (device) {
    case OperationDevice::kAny: return "";
    case OperationDevice::kMemory: return "memory";
    case OperationDevice::kMemoryOrHost: return "memory, host";
    case OperationDevice::kPages: return "pages";
    case OperationDevice::kMappedPages: return "mapped, reserved";
    case OperationDevice::kCall: return "`DeviceCall`";
    case OperationDevice::kInner: return "inner";
  }
  return "?";
}
std::string word(OperationObject object) {
  switch (object) {
    case OperationObject::kAny: return "";
    case OperationObject::kSome: return "not 0";
    case OperationObject::kBytes: return "bytes";
    case OperationObject::kHolding: return "`pack_holding`";
    case OperationObject::kEstimate: return "`EstimateKind`";
  }
  return "?";
}
std::string word(OperationRange range) {
  switch (range) {
    case OperationRange::kNoRange: return "";
    case OperationRange::kOfSize: return "size";
    case OperationRange::kOfObject: return "object";
  }
  return "?";
}

std::string row(const OperationLaw& law) {
  std::ostringstream text;
  text << "| `" << law.name << "` | " << static_cast<uint32_t>(law.operation) << " | `"
       << (law.record == RecordType::kMalloc ? "kMalloc" : "kFree") << "` | " << word(law.effect) << " | "
       << word(law.device) << " | " << word(law.object) << " | " << word(law.range) << " | ";
  return text.str();
}

}  // namespace

TEST_CASE("the page of the protocol has a row for each device operation, as the list has it") {
  const std::vector<std::string> rows = rows_of_page();
  REQUIRE(rows.size() == std::size(kDeviceOperations));
  for (size_t i = 0; i < rows.size(); ++i)
    CHECK(rows[i].substr(0, row(kDeviceOperations[i]).size()) == row(kDeviceOperations[i]));
}

TEST_CASE("operations are numbered without gaps") {
  uint32_t number = 0;
  for (const OperationLaw& law : kDeviceOperations) CHECK(static_cast<uint32_t>(law.operation) == ++number);
  CHECK_FALSE(is_operation(static_cast<DeviceOperation>(number + 1)));
  CHECK_FALSE(is_operation(static_cast<DeviceOperation>(0)));
}

TEST_CASE("a device operation in the wrong record is none that an agent writes") {
  for (const OperationLaw& law : kDeviceOperations) {
    INFO(law.name);
    OperationFields fields{law.record, kMappedDevice, 1, 0x1000, 64};
    if (law.object == OperationObject::kHolding) fields.object = pack_holding(Holding::kPools, 0, false, 5);
    if (law.device == OperationDevice::kCall) fields.device = static_cast<uint32_t>(DeviceCall::kFree);
    if (law.device == OperationDevice::kInner) fields.device = kPythonDevice;
    CHECK(is_sound(law.operation, fields));
    OperationFields other = fields;
    other.record = law.record == RecordType::kMalloc ? RecordType::kFree : RecordType::kMalloc;
    CHECK_FALSE(is_sound(law.operation, other));
    other = fields;
    other.device = 200'000;
    CHECK(is_sound(law.operation, other) == (law.device == OperationDevice::kAny));
    other = fields;
    other.object = 0;
    const bool takes_none = law.object == OperationObject::kAny || law.object == OperationObject::kBytes;
    CHECK(is_sound(law.operation, other) == takes_none);
    other = fields;
    other.address = uint64_t{1} << 60;
    CHECK(is_sound(law.operation, other) == (law.range == OperationRange::kNoRange));
  }
}
