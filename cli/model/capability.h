// cli/model/capability.h: one capability of the machine and whether heapprof can use it: a line of `heapprof doctor`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

enum class Availability {
  kOk,
  kWarning,  // works, with a loss that `what` names
  kMissing,  // programs cannot be profiled
};

struct Capability {
  std::string name;
  Availability availability = Availability::kOk;
  std::string what;  // what was found, and what it means
  std::string fix;   // a command or step; empty if ok
};

constexpr std::string_view availability_name(Availability availability) {
  return availability == Availability::kOk ? "ok" : availability == Availability::kWarning ? "warning" : "missing";
}

}  // namespace heapprof::cli
