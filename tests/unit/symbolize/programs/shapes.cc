// tests/unit/symbolize/programs/shapes.cc: calls from functions of every kind; all inlining is forced or forbidden, so
// that the frames are the same at every level of optimisation. frames_test.cc says what they must be called, and finds
// their lines by the words behind "line:".

extern "C" void record(const char* marker);

namespace shapes {

volatile int g_sink;  // written after each call, which so is no tail call

struct Circle {
  __attribute__((noinline)) explicit Circle(int radius) : radius_(radius) {
    record("constructor");  // line:constructor
    g_sink = radius_;
  }
  __attribute__((always_inline)) inline int area() const {
    record("inlined");  // line:area
    g_sink = 1;
    return radius_ * radius_;
  }
  int radius_;
};

__attribute__((always_inline)) inline int twice_area(const Circle& circle) {
  return 2 * circle.area();  // line:twice_area
}

__attribute__((noinline)) int measure(const Circle& circle) {
  int result = twice_area(circle);  // line:measure
  g_sink = result;
  return result;
}

template <typename T>
__attribute__((noinline)) T twice(T value) {
  record("template");  // line:template
  g_sink = 2;
  return value + value;
}

// Inline, so that its lambda is named alike in all units and thus by all compilers.
inline __attribute__((noinline)) int with_lambda(int value) {
  auto add = [value](int more) __attribute__((noinline)) {
    record("lambda");  // line:lambda
    g_sink = 3;
    return value + more;
  };
  return add(1) + g_sink;
}

namespace {

__attribute__((always_inline)) inline int hidden(int value) {
  record("hidden");  // line:hidden
  g_sink = 4;
  return value;
}

}  // namespace

__attribute__((noinline)) int calls_hidden(int value) {
  g_sink = hidden(value);  // line:calls_hidden
  return g_sink;
}

}  // namespace shapes

extern "C" __attribute__((noinline)) void plain_c_function() {
  record("plain");  // line:plain
  shapes::g_sink = 5;
}

static __attribute__((noinline)) void local_function() {
  record("local");  // line:local
  shapes::g_sink = 6;
}

int main() {
  shapes::Circle circle(3);
  shapes::measure(circle);
  shapes::twice(4);
  shapes::with_lambda(5);
  shapes::calls_hidden(6);
  plain_c_function();
  local_function();
  record("main");  // line:main
  shapes::g_sink = 7;
  return 0;
}
