// cli/base/result.h: a value, or the problem that prevented it.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <variant>

namespace heapprof::cli {

// An error for the user, in four parts. Only cli/base/problems_*.cc make these.
struct Problem {
  std::string id;       // stable, "HP004"
  std::string what;     // what was needed and what was found; lower case, no full stop
  std::string fix;      // a command or step that solves it
  std::string instead;  // the alternative and its price; empty only without an alternative
  int exit_code = 1;  // for all commands but `run`, which exits with 125 (with 126 or 127 if the program did not start)
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Problem problem)
      : state_(std::in_place_index<1>, std::move(problem)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // pre: ok()
  T& value() & { return *check(std::get_if<0>(&state_)); }
  const T& value() const& { return *check(std::get_if<0>(&state_)); }
  T&& value() && { return std::move(*check(std::get_if<0>(&state_))); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }

  // pre: !ok()
  const Problem& problem() const { return *check(std::get_if<1>(&state_)); }

 private:
  template <typename P>
  static P check(P pointer) {
    if (pointer == nullptr) std::abort();
    return pointer;
  }
  std::variant<T, Problem> state_;
};

struct Done {};  // Result<Done>: success without a value

}  // namespace heapprof::cli
