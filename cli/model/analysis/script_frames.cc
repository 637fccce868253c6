// cli/model/analysis/script_frames.cc: a table of runtimes: for each the modules that identify it, the functions that
// show that it runs a script, and the flag that makes it write names and keep frame pointers.
//
// JIT-compiled code lies in no file: its frames have neither module nor name. Such frames alone do not prove a runtime,
// because a program may generate code itself. A loaded library, or a program's name (any program can be "node"), does
// not prove one either. Such frames together with the runtime's own functions in the stacks do.
//
// The flags are passed in the environment, so that they reach the runtime through scripts and launchers (npm, gradle),
// and the command stays unchanged.
#include "cli/model/analysis/script_frames.h"

#include "cli/base/file_name.h"
#include "cli/base/saturating.h"
#include "cli/base/text.h"
#include "cli/model/analysis/python/paths.h"
#include "cli/model/profile/python_code.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

namespace heapprof::cli {
namespace {

struct Runtime {
  std::string_view name;
  std::string_view language;
  std::array<std::string_view, 3> modules;  // beginnings of libraries' file names; programs' whole names
  std::array<std::string_view, 3> symbols;  // beginnings of functions that prove that a program is the runtime
  std::array<std::string_view, 4> entries;  // beginnings of functions that run a script
  std::string_view setting;                 // environment variable, put before the command
};

// node: a stripped one has no Builtins_ functions; the other functions are exported. The first flag writes the map, the
// second gives interpreted functions their own code, which is in the map. Java: the flags keep frame pointers, and
// write the map at the end, when heapprof reads it (JDK 17). CPython has the setting since 3.12.
constexpr std::array<Runtime, 5> kScriptRuntimes = {{
    {"node",
     "JavaScript",
     {"node", "nodejs", "libnode.so"},
     {"node::", "v8::", "Builtins_"},
     {"Builtins_", "v8::Function::Call(", "v8::Script::Run(", "v8::Module::Evaluate("},
     "NODE_OPTIONS='--perf-basic-prof --interpreted-frames-native-stack'"},
    {"python",
     "Python",
     {"python3.", "libpython3.", ""},
     {"_PyEval_", "PyEval_", "Py_"},
     {"_PyEval_EvalFrameDefault"},
     "PYTHONPERFSUPPORT=1"},
    {"java",
     "Java",
     {"libjvm.so", "", ""},
     {},
     {},
     "JAVA_TOOL_OPTIONS='-XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit'"},
    {"ruby", "Ruby", {"libruby", "ruby", ""}, {"rb_", "ruby_", ""}, {}, "RUBYOPT='--yjit --yjit-perf=map'"},
    {".NET", ".NET", {"libcoreclr.so", "", ""}, {}, {}, "DOTNET_PerfMapEnabled=1"},
}};

bool is_module_of(const Runtime& runtime, std::string_view file) {
  return std::any_of(runtime.modules.begin(), runtime.modules.end(), [file](std::string_view name) {
    if (name.empty() || !file.starts_with(name)) return false;
    return file.size() == name.size() || name.ends_with('.') || name.starts_with("lib");
  });
}

const Runtime* runtime_of_module(const Profile& profile, uint32_t module) {
  if (module >= profile.modules.size()) return nullptr;
  const std::string_view file = base_name_view(profile.modules[module].path);
  const auto found = std::find_if(kScriptRuntimes.begin(), kScriptRuntimes.end(),
                                  [file](const Runtime& runtime) { return is_module_of(runtime, file); });
  return found == kScriptRuntimes.end() ? nullptr : &*found;
}

// Whether the function is the runtime's own: "v8::internal::Heap::Grow()", "char* node::Malloc<char>(unsigned long)".
bool is_symbol_of(const Runtime& runtime, std::string_view function) {
  return std::any_of(runtime.symbols.begin(), runtime.symbols.end(), [function](std::string_view symbol) {
    if (symbol.empty()) return false;
    const size_t at = function.find(symbol);
    return at == 0 || (at != function.npos && function[at - 1] == ' ');
  });
}

// The runtime that at least one stack goes through; null if there is no such runtime. A frame in its library is
// evidence. A frame in a program with its name counts only if it is one of the runtime's functions.
const Runtime* find_runtime(const Profile& profile) {
  std::vector<const Runtime*> of_module;
  for (uint32_t i = 0; i < profile.modules.size(); ++i) of_module.push_back(runtime_of_module(profile, i));
  for (const Frame& frame : profile.frames) {
    if (frame.module >= of_module.size()) continue;
    const Runtime* const runtime = of_module[frame.module];
    if (runtime == nullptr) continue;
    const bool is_library = base_name_view(profile.modules[frame.module].path).starts_with("lib");
    if (is_library || is_symbol_of(*runtime, frame.function)) return runtime;
  }
  return nullptr;
}

// "python3.11", "libpython3.12.so.1.0": 11, 12; 0: unknown.
unsigned python_minor(const Profile& profile) {
  for (const ProfileModule& module : profile.modules) {
    const std::string file = base_name(module.path);
    const size_t at = file.find("python3.");
    unsigned minor = 0;
    if (at == file.npos || at > 3) continue;
    const char* const begin = file.data() + at + 8;
    if (std::from_chars(begin, file.data() + file.size(), minor).ec == std::errc()) return minor;
  }
  return 0;
}

bool may_have_hint(const Runtime& runtime, const Profile& profile) {
  constexpr unsigned kFirstWithMap = 12;
  return runtime.name != "python" || python_minor(profile) >= kFirstWithMap;
}

// Whether JIT-compiled code is a script's function. V8 marks JavaScript functions with "JS:", CPython and others have
// names like "py::f", "Class::method" or "void Class.method()". Stubs of a runtime look different: "Interpreter",
// "StubRoutines (1)".
bool is_script(std::string_view function) {
  if (function.starts_with("JS:") || function.find("::") != function.npos) return true;
  return function.find('.') != function.npos && function.find('(') != function.npos && !function.starts_with("RegExp:");
}

// Whether the function comes with the runtime: "node:internal/fs", "void java.util.HashMap.resize()",
// "[System.Private.CoreLib] …".
bool is_library(std::string_view function, std::string_view file) {
  if (file.starts_with("node:") || function.find("[System.") != function.npos) return true;
  const std::string_view head = function.substr(0, function.find('('));
  const size_t space = head.rfind(' ');
  const std::string_view method = space == head.npos ? head : head.substr(space + 1);
  constexpr std::array<std::string_view, 4> kPackages = {"java.", "javax.", "jdk.", "sun."};
  return std::any_of(kPackages.begin(), kPackages.end(),
                     [method](std::string_view package) { return method.starts_with(package); });
}

// Whether a site's stack runs a script whose names are missing.
class Stacks {
 public:
  Stacks(const Profile& profile, const Runtime& runtime) : flags_(profile.nodes.size(), 0) {
    const std::vector<FrameRole> roles = frame_roles(profile);
    for (size_t i = 1; i < profile.nodes.size(); ++i) {
      const FrameNode& node = profile.nodes[i];
      const FrameRole role = roles[node.frame];
      const bool runs =
          role == FrameRole::kNameless ||
          (role == FrameRole::kRunsScript && runtime_of_module(profile, profile.frames[node.frame].module) == &runtime);
      flags_[i] =
          static_cast<uint8_t>(flags_[node.parent] | (role == FrameRole::kScript ? kNamed : 0) | (runs ? kRuns : 0));
    }
  }
  bool is_nameless(const Site& site) const { return flags_[site.node] == kRuns; }
  bool runs_script(const Site& site) const { return flags_[site.node] != 0; }

 private:
  static constexpr uint8_t kRuns = 1;
  static constexpr uint8_t kNamed = 2;
  std::vector<uint8_t> flags_;
};

}  // namespace

bool is_arena(std::string_view function, std::string_view file) {
  if (function == "new_arena") return base_name_view(file) == "obmalloc.c";
  // Without debug information new_arena() is not visible, because it is inlined. Then it is recognised by the functions
  // that it calls, which map only arenas.
  return file.empty() && (function.starts_with("_PyObject_Arena") || function == "_PyMem_ArenaAlloc");
}

namespace {

// python: only for a profile with Python frames; else null.
FrameRole role_of(const Profile& profile, const Frame& frame, const PythonPaths* python) {
  if (is_arena(frame.function, frame.file)) return FrameRole::kOther;
  const bool has_module = frame.module < profile.modules.size();
  if (!has_module) return frame.function.empty() && frame.svma != 0 ? FrameRole::kNameless : FrameRole::kOther;
  const std::string_view function = frame.function;
  const std::string& path = profile.modules[frame.module].path;
  if (path == kPythonModule) {
    const bool is_own = is_python_mark(profile, frame) || python->origin(frame.file) == PythonOrigin::kOwn;
    return is_own ? FrameRole::kScript : FrameRole::kInterpreter;
  }
  if (path == "[JIT]") {
    if (is_library(function, frame.file)) return FrameRole::kInterpreter;
    return is_script(function) ? FrameRole::kScript : FrameRole::kInterpreter;
  }
  const Runtime* const runtime = runtime_of_module(profile, frame.module);
  if (runtime == nullptr) {
    // Between a script and its allocations, an object from Python's packages counts as the interpreter.
    const bool is_own = python == nullptr || python->object(frame.module) == ObjectOrigin::kOwn;
    return is_own ? FrameRole::kOther : FrameRole::kInterpreter;
  }
  const bool runs = std::any_of(runtime->entries.begin(), runtime->entries.end(), [function](std::string_view entry) {
    return !entry.empty() && function.starts_with(entry);
  });
  return runs ? FrameRole::kRunsScript : FrameRole::kInterpreter;
}

std::optional<PythonPaths> python_paths(const Profile& profile) {
  return has_python(profile) ? std::optional<PythonPaths>(std::in_place, profile) : std::nullopt;
}

}  // namespace

FrameRole frame_role(const Profile& profile, const Frame& frame) {
  const std::optional<PythonPaths> python = python_paths(profile);
  return role_of(profile, frame, python ? &*python : nullptr);
}

std::vector<FrameRole> frame_roles(const Profile& profile) {
  const std::optional<PythonPaths> python = python_paths(profile);
  std::vector<FrameRole> roles;
  roles.reserve(profile.frames.size());
  std::vector<char> is_plain(profile.modules.size());  // neither belongs to a runtime nor was compiled by one
  for (uint32_t i = 0; i < profile.modules.size(); ++i)
    is_plain[i] = profile.modules[i].path != "[JIT]" && profile.modules[i].path != kPythonModule &&
                  runtime_of_module(profile, i) == nullptr && (!python || python->object(i) == ObjectOrigin::kOwn);
  for (const Frame& frame : profile.frames) {
    const bool is_other = frame.module < is_plain.size() && is_plain[frame.module] != 0;
    roles.push_back(is_other ? FrameRole::kOther : role_of(profile, frame, python ? &*python : nullptr));
  }
  return roles;
}

std::optional<ScriptHint> find_script_hint(const Profile& profile) {
  constexpr uint64_t kPart = 10;  // a tenth
  const Runtime* const runtime = find_runtime(profile);
  if (runtime == nullptr || !may_have_hint(*runtime, profile)) return std::nullopt;
  if (runtime->name == "python" && has_python(profile)) return std::nullopt;  // its frames need no setting
  const std::vector<FrameRole> roles = frame_roles(profile);
  if (std::find(roles.begin(), roles.end(), FrameRole::kScript) != roles.end())
    return std::nullopt;  // the setting was used
  const Stacks stacks(profile, *runtime);
  const auto is_memory = [](const Device& device) { return device.name == "host" || device.name == "mapped"; };
  uint64_t all_bytes = 0;
  for (const Device& device : profile.devices)
    all_bytes = add_saturating(all_bytes, is_memory(device) ? device.totals.peak_bytes : 0);
  std::optional<ScriptHint> hint;
  for (const Device& device : profile.devices) {
    if (!is_memory(device) || device.totals.peak_bytes < all_bytes / kPart) continue;
    uint64_t bytes = 0;
    for (const Site& site : device.sites)
      bytes = add_saturating(bytes, stacks.is_nameless(site) ? site.numbers.peak_bytes : 0);
    if (bytes == 0 || bytes < device.totals.peak_bytes / kPart || (hint && bytes <= hint->peak_bytes)) continue;
    hint = ScriptHint{
        std::string(runtime->name), std::string(runtime->language), device.name, bytes, device.totals.peak_bytes, ""};
  }
  if (!hint) return std::nullopt;
  std::string command;
  for (const std::string& word : profile.run.command) command += " " + shell_quoted(word);
  hint->command = fmt::format("{} heapprof run --{}", runtime->setting, command);
  return hint;
}

std::string running_runtime(const Profile& profile) {
  const Runtime* const runtime = find_runtime(profile);
  if (runtime == nullptr) return "";
  const Stacks stacks(profile, *runtime);
  for (const Device& device : profile.devices) {
    for (const Site& site : device.sites) {
      if (site.truncated && stacks.runs_script(site)) return std::string(runtime->name);
    }
  }
  return "";
}

}  // namespace heapprof::cli
