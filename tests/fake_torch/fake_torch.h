// tests/fake_torch/fake_torch.h: the part of PyTorch's libtorch_cpu by which it tells of operators, with its names,
// types and order of calls, in all forms that versions since 1.12 have of at::RecordFunction::before.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace c10 {

struct FunctionSchema {
  const char* name;
};
enum class DispatchKey : uint16_t { kUndefined };

template <typename Character>
struct basic_string_view {
  const Character* text;
  size_t length;
};

}  // namespace c10

namespace at {

enum class RecordScope : uint8_t { kFunction = 0, kBackward = 1, kScript = 2, kUser = 7 };

struct ObserverContext {
  virtual ~ObserverContext() = default;
};

struct RecordFunction;

struct RecordFunctionCallback {
  std::unique_ptr<ObserverContext> (*start)(const RecordFunction&);
  void (*end)(const RecordFunction&, ObserverContext*);
  double probability = 1.0;
  std::array<bool, 10> scopes = {};
  bool needs_inputs = false;
  bool needs_outputs = false;
  bool needs_ids = false;
};

struct StepCallbacks {
  RecordScope scope;
};

constexpr size_t kMostCallbacks = 8;

struct RecordFunction {
  using Schema = std::reference_wrapper<const c10::FunctionSchema>;
  using Described = std::variant<std::string_view, Schema>;
  using OldDescribed = std::variant<c10::basic_string_view<char>, Schema>;

  explicit RecordFunction(StepCallbacks&& step);
  virtual ~RecordFunction();

  void before(const char* text, int64_t sequence);
  void before(std::string text, int64_t sequence);
  void before(Schema schema, int64_t sequence);
  void before(OldDescribed described, int64_t sequence);
  void before(Described described, int64_t sequence);
  void before(Described described, int64_t sequence, c10::DispatchKey key);
  void end();
  const char* name() const;

  RecordScope scope;
  char text[64] = {};
  int64_t sequence = -1;
  uint32_t form = 0;
  bool has_begun = false;
  std::array<std::unique_ptr<ObserverContext>, kMostCallbacks> kept;

 private:
  void start(std::string_view named, int64_t number, uint32_t by_form);
};

uint64_t addGlobalCallback(RecordFunctionCallback callback);

// Of the fake alone: what is asked for so far; and a call with the lock held that addGlobalCallback takes.
size_t count_callbacks();
void call_locked(void (*function)());

}  // namespace at
