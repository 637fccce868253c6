// cli/model/capability.h: one thing that heapprof can use on a machine, and whether it may: a line of `heapprof
// doctor`.
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
  std::string what;  // found, and what it means
  std::string fix;   // a command or step; empty if ok
};

constexpr std::string_view availability_name(Availability availability) {
  return availability == Availability::kOk ? "ok" : availability == Availability::kWarning ? "warning" : "missing";
}

}  // namespace heapprof::cli
