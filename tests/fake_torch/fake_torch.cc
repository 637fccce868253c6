// tests/fake_torch/fake_torch.cc: a library of its own. Who asks for callbacks is kept behind a lock that nobody may
// take twice, and memory is allocated with it held, as the real one does.
#include "tests/fake_torch/fake_torch.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <vector>

namespace at {

namespace {

struct Callbacks {
  std::mutex mutex;
  std::vector<RecordFunctionCallback> list;
};
Callbacks& callbacks() {
  static Callbacks all;
  return all;
}

// The real one allocates in its constructors, when it registers operators.
const std::vector<std::string> kRegistered(100, std::string(100, 'x'));

std::string_view text_of(const RecordFunction::Described& described) {
  if (const auto* const text = std::get_if<std::string_view>(&described)) return *text;
  return std::get<RecordFunction::Schema>(described).get().name;
}

}  // namespace

uint64_t addGlobalCallback(RecordFunctionCallback callback) {
  Callbacks& all = callbacks();
  const std::lock_guard lock(all.mutex);
  if (all.list.size() == kMostCallbacks) std::abort();
  all.list.push_back(callback);
  return all.list.size();
}

size_t count_callbacks() { return callbacks().list.size(); }

void call_locked(void (*function)()) {
  const std::lock_guard lock(callbacks().mutex);
  std::free(std::malloc(77));
  function();
}

RecordFunction::RecordFunction(StepCallbacks&& step) : scope(step.scope) {}
RecordFunction::~RecordFunction() { end(); }

void RecordFunction::before(const char* named, int64_t number) { start(named, number, 1); }
void RecordFunction::before(std::string named, int64_t number) { start(named, number, 2); }
void RecordFunction::before(Schema schema, int64_t number) { start(schema.get().name, number, 3); }
void RecordFunction::before(OldDescribed described, int64_t number) {
  const auto* const view = std::get_if<c10::basic_string_view<char>>(&described);
  start(view != nullptr ? std::string_view(view->text, view->length) : std::get<Schema>(described).get().name, number,
        4);
}
void RecordFunction::before(Described described, int64_t number) { start(text_of(described), number, 5); }
void RecordFunction::before(Described described, int64_t number, c10::DispatchKey key) {
  start(text_of(described), number, key == c10::DispatchKey::kUndefined ? 6 : 0);
}

void RecordFunction::start(std::string_view named, int64_t number, uint32_t by_form) {
  std::snprintf(text, sizeof text, "%.*s", static_cast<int>(named.size()), named.data());
  sequence = number;
  form = by_form;
  has_begun = true;
  const std::vector<RecordFunctionCallback>& list = callbacks().list;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].scopes[static_cast<size_t>(scope)]) kept[i] = list[i].start(*this);
  }
}

void RecordFunction::end() {
  if (!has_begun) return;
  has_begun = false;
  const std::vector<RecordFunctionCallback>& list = callbacks().list;
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i].scopes[static_cast<size_t>(scope)]) list[i].end(*this, kept[i].get());
  }
  for (auto& one : kept) one.reset();
}

const char* RecordFunction::name() const { return text; }

}  // namespace at
