// tests/support/python_scene.h: made-up profiles of Python programs: stacks as the agent reads them, with the
// interpreter's own functions around those of Python.
#pragma once

#include "cli/model/profile/node_table.h"
#include "cli/model/profile/profile.h"

#include <cstdint>
#include <string>
#include <vector>

namespace heapprof::test {

using namespace heapprof::cli;  // NOLINT(google-build-using-namespace)

struct PythonCall {
  std::string function;
  std::string file;  // of Python; or an object, for one of C: "/usr/bin/python3.11"
  uint32_t line = 0;
  bool is_native = false;
  std::string source = "";  // of C
};

inline PythonCall native(const std::string& function, const std::string& object) {
  return {function, object, 0, true, ""};
}

inline const std::string kPython = "/usr/bin/python3.11";
inline const PythonCall kEvaluate = native("_PyEval_EvalFrameDefault", kPython);
inline const PythonCall kNewDict = native("PyDict_New", kPython);
inline const PythonCall kBytesMain = native("Py_BytesMain", kPython);
inline const PythonCall kInitialize = native("Py_InitializeFromConfig", kPython);
inline const PythonCall kFind = {"_find_and_load", "<frozen importlib._bootstrap>", 1178};
inline const std::string kSystemSite = "/usr/lib/python3/dist-packages/";
inline const PythonCall kMainModule = {"<module>", "/home/me/app/train.py", 3};
inline const PythonCall kTrain = {"train", "/home/me/app/train.py", 24};
inline const PythonCall kGetCode = {"get_code", "<frozen importlib._bootstrap_external>", 1016};

class PythonScene {
 public:
  PythonScene() {
    profile_.run.command = {"python3", "train.py"};
    profile_.run.executable = kPython;
    profile_.run.end = {EndKind::kExited, 0};
    profile_.nodes.emplace_back();
    profile_.devices.emplace_back().name = "host";
  }

  // Innermost first. So many bytes at the peak and live at exit, in one block or in several.
  PythonScene& add(const std::vector<PythonCall>& calls, uint64_t bytes = 1000, uint64_t blocks = 1) {
    NodeTable table(&profile_.nodes);
    uint32_t node = 0;
    for (size_t i = calls.size(); i-- > 0;) node = table.intern(node, frame(calls[i]));
    Device& host = profile_.devices[0];
    Site& site = host.sites.emplace_back();
    site.node = node;
    SizedNumbers& n = site.numbers;
    n.total_bytes = n.peak_bytes = n.max_bytes = n.leaked_bytes = bytes;
    n.smallest_bytes = n.largest_bytes = bytes / blocks;
    n.total_blocks = n.peak_blocks = n.max_blocks = n.leaked_blocks = blocks;
    host.totals.total_bytes += bytes;
    host.totals.peak_bytes += bytes;
    host.totals.leaked_bytes += bytes;
    host.totals.total_blocks += blocks;
    host.totals.peak_blocks += blocks;
    host.totals.leaked_blocks += blocks;
    return *this;
  }
  Site& last() { return profile_.devices[0].sites.back(); }
  RunInfo& run() { return profile_.run; }
  Profile take() { return std::move(profile_); }

 private:
  uint32_t module(const std::string& path) {
    for (uint32_t i = 0; i < profile_.modules.size(); ++i) {
      if (profile_.modules[i].path == path) return i;
    }
    profile_.modules.push_back({path, ""});
    return static_cast<uint32_t>(profile_.modules.size() - 1);
  }
  uint32_t frame(const PythonCall& call) {
    Frame frame;
    frame.function = call.function;
    frame.module = module(call.is_native ? call.file : "[Python]");
    frame.file = call.is_native ? call.source : call.file;
    frame.line = call.line;
    if (call.is_native) frame.svma = 0x1000 + std::hash<std::string>()(call.function) % 0x10000;
    for (uint32_t i = 0; i < profile_.frames.size(); ++i) {
      const Frame& other = profile_.frames[i];
      if (other.function == frame.function && other.file == frame.file && other.line == frame.line &&
          other.module == frame.module)
        return i;
    }
    profile_.frames.push_back(frame);
    return static_cast<uint32_t>(profile_.frames.size() - 1);
  }

  Profile profile_;
};

}  // namespace heapprof::test
