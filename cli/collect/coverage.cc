// cli/collect/coverage.cc: each bit of the self-test is named by its line in shared/hooks.def.
#include "cli/collect/coverage.h"

#include "cli/base/file_name.h"
#include "cli/base/units.h"

#include <fmt/format.h>

#include <iterator>

namespace heapprof::cli {
namespace {

// The names of the bits of wire::Hello::self_test_failures, in the order of shared/hooks.def.
constexpr const char* kHookNames[] = {
#define X(result, name, params, args) #name,
#include "shared/hooks.def"
#undef X
};
constexpr uint32_t kNewBit = 31;

}  // namespace

const char* unwinder_name(wire::UnwinderKind kind) {
  switch (kind) {
    case wire::UnwinderKind::kLibunwind: return "libunwind";
    case wire::UnwinderKind::kFramePointers: return "fp";
    case wire::UnwinderKind::kHeapprof:
    case wire::UnwinderKind::kVerify: break;
  }
  return "heapprof";
}

Coverage coverage_of(const wire::Hello& hello, const CollectorOptions& options, const std::string& executable) {
  Coverage coverage;
  const std::string malloc_object = hello_text(hello.malloc_object);
  coverage.agent_version = hello_text(hello.agent_version);
  coverage.allocator = base_name(malloc_object.empty() ? executable : malloc_object);
  coverage.new_recorded = (hello.flags & wire::kHelloNewRecorded) != 0;
  coverage.clock = options.clock_mode == wire::ClockMode::kTsc ? "tsc" : "sequence";
  coverage.unwinder = unwinder_name(options.unwinder);
  for (size_t bit = 0; bit < std::size(kHookNames); ++bit) {
    if ((hello.self_test_failures >> bit & 1) != 0) coverage.self_test_failures.emplace_back(kHookNames[bit]);
  }
  if ((hello.self_test_failures >> kNewBit & 1) != 0) coverage.self_test_failures.emplace_back("operator new");
  return coverage;
}

void add_unread_interpreter(uint32_t version, Coverage* coverage) {
  if ((version & wire::kPythonUnknown) == 0) return;
  const uint32_t minor = version & 0xff;
  coverage->unread_interpreters.push_back(minor == 0 ? "a Python before 3.8" : fmt::format("Python 3.{}", minor));
}

void add_unrecorded_objects(const wire::Control& control, Coverage* coverage) {
  const wire::ObjectsState state = control.objects_state.load(std::memory_order_relaxed);
  const char* const text = wire::objects_state_text(state);
  const bool has_python = control.python_version.load(std::memory_order_relaxed) != 0;
  if (control.python_objects == 0 || !has_python || state == wire::ObjectsState::kRecorded || text == nullptr) return;
  coverage->unrecorded_objects.emplace_back(text);
}

void add_unrecorded_operators(const wire::Control& control, Coverage* coverage) {
  if (control.operators_state.load(std::memory_order_relaxed) == wire::OperatorsState::kUnknown)
    coverage->unrecorded_operators.emplace_back("it lacks the function that reports them");
}

void add_inner_allocators(const wire::Control& control, const InnerProgram& inner, Coverage* coverage) {
  const wire::InnerState state = control.inner_state.load(std::memory_order_relaxed);
  const uint32_t passed = control.inner_passed.load(std::memory_order_relaxed);
  const uint32_t doubted = control.inner_doubted.load(std::memory_order_relaxed);
  const bool is_planned = control.inner_plan_bytes != 0;
  if (is_planned && state == wire::InnerState::kNone && (passed | doubted) == 0)
    return;  // the program ended before the plan was tried
  if (is_planned && state == wire::InnerState::kHooked) {
    for (const std::string& one : inner.unseen) coverage->unhooked_allocators.push_back(one);
  }
  for (size_t group = 0; group < inner.allocators.size(); ++group) {
    const InnerProgram::Allocator& allocator = inner.allocators[group];
    const bool is_passed = group < 32 && (passed >> group & 1) != 0;
    if (is_passed) continue;  // this allocator's memory is counted where it requests it
    const bool is_doubted = group < 32 && (doubted >> group & 1) != 0;
    if (is_planned && is_doubted) {
      coverage->unhooked_allocators.push_back(
          fmt::format("{}: its functions do not behave as an allocator's do in a copy of the process", allocator.name));
      continue;
    }
    if (is_planned && state == wire::InnerState::kHooked) {
      coverage->inner_allocators.push_back(
          fmt::format("{}: {}", allocator.name, format_counted(allocator.functions, "function")));
      continue;
    }
    std::string why = inner.left_because;
    if (is_planned) {
      const char* const text = wire::inner_state_text(state);
      why = text == nullptr ? "" : text;
    } else if (!inner.refusals.empty()) {
      why = inner.refusals.size() == 1 ? inner.refusals[0]
                                       : fmt::format("{} ({} more)", inner.refusals[0], inner.refusals.size() - 1);
    }
    coverage->unhooked_allocators.push_back(fmt::format("{}: {}", allocator.name, why));
  }
}

}  // namespace heapprof::cli
