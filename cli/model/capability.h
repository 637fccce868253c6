// cli/model/capability.h: one thing that heapprof can use on a machine, and whether it may: a line of `heapprof doctor`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heapprof::cli {

enum class Finding {
  kOk,
  kWarning,  // works, with a loss that `what` names
  kMissing,  // programs cannot be profiled
};

struct Check {
  std::string name;
  Finding finding = Finding::kOk;
  std::string what;  // found, and what it means
  std::string fix;   // a command or step; empty if ok
};

constexpr std::string_view finding_name(Finding finding) {
  return finding == Finding::kOk ? "ok" : finding == Finding::kWarning ? "warning" : "missing";
}

}  // namespace heapprof::cli
