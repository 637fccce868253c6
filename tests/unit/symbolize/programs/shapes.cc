// tests/unit/symbolize/programs/shapes.cc: functions of known names, some inlined, whose return addresses are recorded.
//
// Prints a line for each recorded address: its svma in hexadecimal, then what it must be called, innermost first:
// FUNCTION@LINE,… with ! behind frames that may only be inlined at -O2. The lines are found by the markers in this file.
#include <link.h>
#include <stdint.h>
#include <stdio.h>

namespace shapes {

// The record is made in a function of its own, so that the address recorded is a return address, as in a profile.
__attribute__((noinline, noclone)) void record(const char* expected) {
  uintptr_t pc = reinterpret_cast<uintptr_t>(__builtin_return_address(0));
  static const uintptr_t bias = _r_debug.r_map->l_addr;
  printf("%lx %s\n", static_cast<unsigned long>(pc - bias), expected);
  fflush(stdout);
}

volatile int g_sink;

struct Circle {
  __attribute__((noinline)) explicit Circle(int radius) : radius_(radius) {
    record("shapes::Circle::Circle(int)");  // LINE constructor
    g_sink = radius_;
  }
  __attribute__((always_inline)) inline int area() const {
    record("shapes::Circle::area() const|shapes::measure(shapes::Circle const&)|");  // LINE area
    g_sink = 1;
    return radius_ * radius_;
  }
  int radius_;
};

__attribute__((always_inline)) inline int twice_area(const Circle& circle) {
  return 2 * circle.area();  // LINE twice_area
}

__attribute__((noinline)) int measure(const Circle& circle) {
  int result = twice_area(circle);  // LINE measure
  g_sink = result;
  return result;
}

template <typename T>
__attribute__((noinline)) T twice(T value) {
  record("int shapes::twice<int>(int)");  // LINE template
  g_sink = 2;
  return value + value;
}

static __attribute__((noinline)) int with_lambda(int value) {
  auto add = [value](int more) __attribute__((noinline)) {
    record("shapes::with_lambda(int)::{lambda(int)#1}::operator()(int) const");  // LINE lambda
    g_sink = 3;
    return value + more;
  };
  return add(1) + g_sink;
}

}  // namespace shapes

extern "C" __attribute__((noinline)) void plain_c_function() {
  shapes::record("plain_c_function");  // LINE plain
  shapes::g_sink = 4;
}

int main() {
  shapes::Circle circle(3);
  shapes::measure(circle);
  shapes::twice(4);
  shapes::with_lambda(5);
  plain_c_function();
  return 0;
}
