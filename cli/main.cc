// cli/main.cc: the command line tool.
#include "cli/base/output.h"
#include "cli/command_list.h"

#include <unistd.h>

#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <vector>

namespace {

std::terminate_handler g_usual_terminate;

// Handles a std::bad_alloc that is thrown before main(), where nothing catches it. There is no memory to format a text,
// so the text is a constant (problems.h has the text for later).
[[noreturn]] void say_no_memory() {
  if (const std::exception_ptr thrown = std::current_exception()) {
    try {
      std::rethrow_exception(thrown);
    } catch (const std::bad_alloc&) {
    } catch (...) {
      g_usual_terminate();
    }
  }
  constexpr std::string_view kText =
      "heapprof: error: there is not enough memory to begin [HP095]\n"
      "  fix:     give heapprof more memory: ulimit -v unlimited\n";
  [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, kText.data(), kText.size());
  ::_exit(125);
}
[[gnu::constructor(101)]] void prepare_for_no_memory() { g_usual_terminate = std::set_terminate(say_no_memory); }

}  // namespace

int main(int argc, char** argv) {
  std::set_terminate(g_usual_terminate);
  heapprof::cli::keep_standard_descriptors();
  return heapprof::cli::heapprof_main(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
}
