// cli/model/profile/device_api.h: calls of a device's API that took time on the host.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::cli {

// The names of calls, as in wire::device_call_name; a test compares the two lists.
inline constexpr std::array<const char*, 20> kDeviceCalls = {"allocate",
                                                             "free",
                                                             "allocate async",
                                                             "free async",
                                                             "allocate pinned",
                                                             "free pinned",
                                                             "synchronize device",
                                                             "synchronize stream",
                                                             "synchronize event",
                                                             "copy to device",
                                                             "copy to host",
                                                             "copy on device",
                                                             "copy",
                                                             "set",
                                                             "wait for event",
                                                             "record event",
                                                             "launch graph",
                                                             "allocate in a graph",
                                                             "register",
                                                             "unregister"};

struct ApiCall {
  std::string call;   // wire::device_call_name: "allocate", "copy to host"
  uint32_t node = 0;  // the calling stack; 0: the sum of stacks with little time
  uint64_t count = 0;
  uint64_t duration_ns = 0;  // time of the calling thread, from call to return
  uint64_t size_bytes = 0;   // allocated, copied or set
};

// The sums of calls by thread.
struct ApiThread {
  std::string call;
  uint32_t thread = 0;  // kernel thread id
  uint64_t count = 0;
  uint64_t duration_ns = 0;
};

struct DeviceApi {
  uint64_t kernel_launches = 0;
  std::vector<ApiCall> calls;      // the longest first
  std::vector<ApiThread> threads;  // the longest first
};

inline constexpr size_t kMostApiRows = 1000;

// Merges rows with the same call and stack (or thread). If there are more than kMostApiRows rows, the shortest are
// summed into one row for each call, without a stack (with thread 0).
void merge_api(DeviceApi* api);

}  // namespace heapprof::cli
