// tests/unit/model/script_frames_test.cc: whose place it is where an interpreter allocates for a script, and when a
// flag is named that brings the script's names.
#include "cli/model/analysis/script_frames.h"

#include "cli/model/analysis/frame_kind.h"
#include "cli/model/analysis/places.h"
#include "cli/model/analysis/warnings.h"

#include <catch2/catch.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

using namespace heapprof::cli;

namespace {

struct Call {
  std::string function;
  std::string module;  // empty: code in no file
  std::string file = "";
};

struct Stack {
  std::vector<Call> calls;  // innermost first
  uint64_t bytes = 1000;
};

const Call kMain = {"main", "/usr/bin/node"};
const Call kEntry = {"Builtins_InterpreterEntryTrampoline", "/usr/bin/node"};
const Call kNode = {"node::Buffer::New(unsigned long)", "/usr/bin/node"};
const Call kV8 = {"v8::internal::Heap::Grow()", "/usr/bin/node"};
const Call kAddon = {"Resize", "/app/image.node"};
const Call kRows = {"JS:makeRows", "[JIT]", "/app/a.js"};
const Call kTable = {"JS:loadTable", "[JIT]", "/app/a.js"};
const Call kOwnScript = {"JS:emit", "[JIT]", "node:events"};
const Call kUnnamed = {"", ""};
const Call kMalloc = {"malloc", "/usr/lib/libc.so.6"};

uint32_t module_of(Profile* profile, const std::string& path) {
  if (path.empty()) return kNoModule;
  for (uint32_t i = 0; i < profile->modules.size(); ++i) {
    if (profile->modules[i].path == path) return i;
  }
  profile->modules.push_back({path, ""});
  return static_cast<uint32_t>(profile->modules.size() - 1);
}

Profile profile_of(const std::vector<Stack>& stacks, const std::vector<std::string>& command = {"node", "a b.js"}) {
  Profile profile;
  profile.run.command = command;
  profile.nodes.emplace_back();
  Device& host = profile.devices.emplace_back();
  host.name = "host";
  for (const Stack& stack : stacks) {
    uint32_t node = 0;
    for (auto call = stack.calls.rbegin(); call != stack.calls.rend(); ++call) {
      Frame frame;
      frame.svma = 0x1000 + profile.frames.size();
      frame.function = call->function;
      frame.file = call->file;
      frame.line = call->file.empty() ? 0 : 1;
      frame.module = module_of(&profile, call->module);
      profile.frames.push_back(frame);
      profile.nodes.push_back({node, static_cast<uint32_t>(profile.frames.size() - 1)});
      node = static_cast<uint32_t>(profile.nodes.size() - 1);
    }
    Site& site = host.sites.emplace_back();
    site.node = node;
    site.numbers.peak_bytes = stack.bytes;
    site.numbers.total_bytes = stack.bytes;
    site.numbers.total_blocks = 1;
    host.totals.peak_bytes += stack.bytes;
  }
  return profile;
}

// The place of the first stack.
std::string place_of(const std::vector<Call>& calls) {
  const Profile profile = profile_of({{calls}});
  const PlaceTree tree = build_place_tree(profile);
  const uint32_t node = tree.place_node[profile.devices[0].sites[0].node];
  return profile.frames[profile.nodes[node].frame].function;
}

std::string hint_of(const Profile& profile) {
  const std::optional<ScriptHint> hint = find_script_hint(profile);
  return hint ? hint->command : "";
}

}  // namespace

TEST_CASE("a script's named function is the place of what its interpreter allocates for it") {
  CHECK(place_of({kMalloc, kV8, kNode, kRows, kEntry, kTable, kEntry, kMain}) == "JS:makeRows");
  CHECK(place_of({kMalloc, kV8, kOwnScript, kEntry, kRows, kMain}) == "JS:makeRows");
  CHECK(place_of({kMalloc, kUnnamed, kV8, kRows, kMain}) == "JS:makeRows");
}

TEST_CASE("a library that a script calls is the place itself, also where the interpreter allocates for it") {
  CHECK(place_of({kMalloc, kAddon, kNode, kRows, kMain}) == "Resize");
  CHECK(place_of({kMalloc, kV8, kAddon, kNode, kRows, kMain}) == "Resize");
}

TEST_CASE("without a script's name the interpreter's functions are places as any program's") {
  CHECK(place_of({kMalloc, kV8, kNode, kEntry, kMain}) == kV8.function);
  CHECK(place_of({kMalloc, kV8, kAddon, kNode, kEntry, kMain}) == kV8.function);
  CHECK(place_of({kMalloc, kOwnScript, kEntry, kMain}) == "JS:emit");
  CHECK(place_of({kMalloc, kMain}) == "main");
}

TEST_CASE("Java's and .NET's names are functions, their stubs are not") {
  const Call jvm = {"os::malloc", "/usr/lib/jvm/libjvm.so"};
  CHECK(place_of({jvm, {"StubRoutines (1)", "[JIT]"}, {"Interpreter", "[JIT]"}, {"void A.loadTable()", "[JIT]"}}) ==
        "void A.loadTable()");
  CHECK(place_of({jvm,
                  {"long jdk.internal.misc.Unsafe.allocateMemory0(long)", "[JIT]"},
                  {"java.nio.ByteBuffer java.nio.ByteBuffer.allocateDirect(int)", "[JIT]"},
                  {"java.util.List com.example.Table.load(java.lang.String)", "[JIT]"}}) ==
        "java.util.List com.example.Table.load(java.lang.String)");
  const Call clr = {"AllocateObject", "/usr/share/dotnet/libcoreclr.so"};
  CHECK(place_of({clr,
                  {"void [System.Private.CoreLib] System.Buffer::Grow()[Tier0]", "[JIT]"},
                  {"void [app] App.Table::Load()[Tier0]", "[JIT]"}}) == "void [app] App.Table::Load()[Tier0]");
  CHECK(place_of({clr, {"void [app] App.Table::Load()[Tier0]", "[JIT]"}}) == "void [app] App.Table::Load()[Tier0]");
}

TEST_CASE("the flags that bring JavaScript's names are named where it matters, and only there") {
  const std::vector<Call> script = {kMalloc, kV8, kNode, kEntry, kMain};
  const std::vector<Call> compiled = {kMalloc, kV8, kUnnamed, kMain};
  const std::vector<Call> other = {kMalloc, kV8, kMain};
  const std::string want =
      "NODE_OPTIONS='--perf-basic-prof --interpreted-frames-native-stack' heapprof run -- node 'a b.js'";
  CHECK(hint_of(profile_of({{script}})) == want);
  CHECK(hint_of(profile_of({{compiled}})) == want);
  CHECK(hint_of(profile_of({{script, 100}, {other, 900}})) == want);
  CHECK(hint_of(profile_of({{script, 99}, {other, 901}})).empty());
  CHECK(hint_of(profile_of({{other}})).empty());
  // It has been told.
  CHECK(hint_of(profile_of({{script, 900}, {{kMalloc, kNode, kRows, kMain}, 100}})).empty());
}

TEST_CASE("a program that links to a runtime and does not run it gets no hint") {
  const Call own = {"grow", "/opt/app/editor"};
  for (const char* library : {"/usr/lib/libnode.so.108", "/usr/lib/libpython3.12.so.1.0", "/usr/lib/jvm/libjvm.so",
                              "/usr/lib/libruby-3.3.so.3.3", "/usr/share/dotnet/libcoreclr.so"}) {
    CHECK(hint_of(profile_of({{{kMalloc, own}, 900}, {{kMalloc, {"init", library}, own}, 100}})).empty());
  }
  CHECK(hint_of(profile_of({{{kMalloc, kUnnamed, own}}})).empty());  // code of its own making
  CHECK(hint_of(profile_of({{{kMalloc, {"grow", "/opt/nodes/nodemanager"}, kUnnamed}}})).empty());
}

TEST_CASE("a program that has an interpreter's name, and none of its functions, is none") {
  for (const char* path : {"/home/me/node", "/home/me/nodejs", "/home/me/python3.12", "/home/me/ruby"}) {
    const Call get = {"get", path};
    const Call own_main = {"main", path};
    Profile profile = profile_of({{{kMalloc, get, kUnnamed, own_main}, 5000}});
    CHECK(hint_of(profile).empty());
    profile.devices[0].sites[0].truncated = true;
    CHECK(running_runtime(profile).empty());
    profile.run.counters.allocations = 100;
    profile.run.counters.truncated_stacks = 12;
    const std::vector<Problem> warnings = find_warnings(profile);
    REQUIRE(warnings.size() == 1);
    CHECK(warnings[0].what == "12 of 100 stacks end early (12.0 %): their outer frames are missing");
  }
  CHECK_FALSE(hint_of(profile_of({{{kMalloc, {"rb_ary_push", "/usr/bin/ruby"}, kUnnamed, kMain}}})).empty());
  CHECK_FALSE(hint_of(profile_of({{{kMalloc, {"char* node::Malloc<char>(unsigned long)", "/usr/bin/node"}, kUnnamed}}}))
                  .empty());
}

namespace {

// The host has so much from functions with names, mapped memory so much from nameless ones.
Profile two_devices(uint64_t host_bytes, uint64_t mapped_bytes) {
  Profile profile = profile_of({{{kMalloc, kV8, kMain}, host_bytes}, {{kMalloc, kV8, kEntry, kMain}, mapped_bytes}});
  Device mapped = profile.devices[0];
  mapped.name = "mapped";
  mapped.sites.erase(mapped.sites.begin());
  mapped.totals.peak_bytes = mapped_bytes;
  profile.devices[0].sites.pop_back();
  profile.devices[0].totals.peak_bytes = host_bytes;
  profile.devices.push_back(mapped);
  return profile;
}

}  // namespace

TEST_CASE("what is said of functions without names says of which memory, and nothing of memory that is little") {
  const std::vector<Problem> warnings = find_warnings(two_devices(9000, 1000));
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].what == "100 % of the mapped peak is asked for by JavaScript functions without names");
  CHECK(find_warnings(two_devices(9001, 999)).empty());
  CHECK(find_warnings(two_devices(50'000'000, 324'000)).empty());
}

TEST_CASE("sums of nameless code stop at the largest number") {
  constexpr uint64_t kHalf = uint64_t{1} << 63;
  Profile profile = profile_of({{{kMalloc, kV8, kEntry, kMain}, kHalf}, {{kMalloc, kNode, kEntry, kMain}, kHalf}});
  profile.devices[0].totals.peak_bytes = UINT64_MAX;
  const std::optional<ScriptHint> hint = find_script_hint(profile);
  REQUIRE(hint);
  CHECK(hint->peak_bytes == UINT64_MAX);
}

TEST_CASE("an arena of CPython's is asked for by no function of a script's, and by none that took from it") {
  const std::string python = "/usr/bin/python3.12";
  const std::string source = "/src/Python/Objects/obmalloc.c";
  const Call map = {"_PyObject_ArenaMmap", python, source};
  const Call arena = {"new_arena", python, source};
  const Call pool = {"allocate_from_new_pool", python, source};
  const Call allocate = {"pymalloc_alloc", python, source};
  const Call object = {"_PyObject_GC_New", python, "/src/Python/Modules/gcmodule.c"};
  const Call dict = {"new_dict", python, "/src/Python/Objects/dictobject.c"};
  const Call script = {"py::load", "[JIT]", "/app/a.py"};
  CHECK(place_of({map, arena, pool, allocate, object, dict, kMain}) == "new_arena");
  CHECK(place_of({kMalloc, arena, pool, allocate, object, dict, kMain}) == "new_arena");
  CHECK(place_of({map, arena, pool, allocate, object, dict, script, kMain}) == "new_arena");
  CHECK(place_of({map, {"allocate_chunk", python, "/src/Python/pystate.c"}, dict, kMain}) == "allocate_chunk");
  // Without debug information.
  for (const char* name : {"_PyObject_ArenaMmap", "_PyMem_ArenaAlloc", "_PyObject_ArenaMalloc"}) {
    CHECK(place_of({{name, python}, {"PyObject_Malloc", python}, {"PyList_New", python}, kMain}) == name);
    CHECK(place_of({{name, python}, {"PyObject_Malloc", python}, {"PyList_New", python}, script, kMain}) == name);
  }
  CHECK(place_of({kMalloc, allocate, dict, script, kMain}) == "py::load");
  CHECK(place_of({kMalloc, pool, allocate, dict, kMain}) == "new_dict");
  CHECK(place_of({kMalloc, {"new_arena", "/usr/bin/own", "/src/own.c"}, kMain}) == "new_arena");
  CHECK(place_of({{"new_arena", "/usr/bin/own", "/src/own.c"}, script, kMain}) == "new_arena");
}

TEST_CASE("each runtime has the setting that it reads") {
  const auto with = [](const std::string& library, const Call& call) {
    return hint_of(profile_of({{{kMalloc, {"f", library}, call, {"main", "/usr/bin/x"}}}}, {"x"}));
  };
  CHECK(with("/usr/lib/jvm/libjvm.so", kUnnamed) ==
        "JAVA_TOOL_OPTIONS='-XX:+PreserveFramePointer -XX:+UnlockDiagnosticVMOptions -XX:+DumpPerfMapAtExit' heapprof "
        "run -- x");
  CHECK(with("/usr/share/dotnet/libcoreclr.so", kUnnamed) == "DOTNET_PerfMapEnabled=1 heapprof run -- x");
  CHECK(with("/usr/lib/libruby-3.3.so.3.3", kUnnamed) == "RUBYOPT='--yjit --yjit-perf=map' heapprof run -- x");
  const std::string node = "/usr/lib/libnode.so.115";  // stripped: what it exports tells
  CHECK(with(node, {"v8::Function::Call(v8::Local<v8::Context>, int)", node}) ==
        "NODE_OPTIONS='--perf-basic-prof --interpreted-frames-native-stack' heapprof run -- x");
  CHECK(with(node, {"v8::Object::New(v8::Isolate*)", node}).empty());
  const auto python = [&](const std::string& library) { return with(library, {"_PyEval_EvalFrameDefault", library}); };
  CHECK(python("/usr/lib/libpython3.12.so.1.0") == "PYTHONPERFSUPPORT=1 heapprof run -- x");
  CHECK(python("/usr/bin/python3.13") == "PYTHONPERFSUPPORT=1 heapprof run -- x");
  CHECK(python("/usr/bin/python3.11").empty());  // it tells nobody
  CHECK(python("/usr/bin/python3").empty());
}

TEST_CASE("where frames of Python were read no setting is named that would bring its names") {
  const std::string python = "/usr/lib/libpython3.12.so.1.0";
  const Call evaluate = {"_PyEval_EvalFrameDefault", python};
  const std::vector<Call> nameless = {kMalloc, {"PyList_New", python}, evaluate, {"main", "/usr/bin/x"}};
  CHECK_FALSE(hint_of(profile_of({{nameless}})).empty());
  // Be they all of a library's: none of them is a place.
  const Call library = {"run", "[Python]", "/usr/lib/python3.12/threading.py"};
  CHECK(hint_of(profile_of({{nameless}, {{kMalloc, library, evaluate, {"main", "/usr/bin/x"}}}})).empty());
}

TEST_CASE("unwind tables are no advice for code that a runtime makes") {
  Profile profile = profile_of({{{kMalloc, kV8, kUnnamed, kMain}}});
  profile.run.counters.allocations = 100;
  profile.run.counters.truncated_stacks = 12;
  profile.devices[0].sites[0].truncated = true;
  std::vector<Problem> warnings = find_warnings(profile);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].id == "HP097");
  CHECK(warnings[0].what ==
        "100 % of the host peak is asked for by JavaScript functions without names; 12 stacks go by frame pointers "
        "there");
  profile = profile_of({{{kMalloc, kV8, kRows, kMain}}});
  profile.run.counters.allocations = 100;
  profile.run.counters.truncated_stacks = 12;
  profile.devices[0].sites[0].truncated = true;
  warnings = find_warnings(profile);
  REQUIRE(warnings.size() == 1);
  CHECK(warnings[0].what == "12 of 100 stacks go by frame pointers through code that node compiled (12.0 %)");
  CHECK(warnings[0].fix.find("-f") == std::string::npos);
}
