// tests/unit/attach/traced_thread_test.cc: what is said of a thread that has a tracer already.
#include "cli/attach/traced_thread.h"

#include <catch2/catch.hpp>
#include <sys/syscall.h>
#include <unistd.h>

#include <thread>

using namespace heapprof::cli;

TEST_CASE("heapprof does not name a thread of its own as a foreign tracer") {
  std::string text;
  std::thread([&text] { text = tracer_text(static_cast<uint64_t>(::syscall(SYS_gettid))); }).join();
  CHECK(text == "it does not stop");
  CHECK(tracer_text(static_cast<uint64_t>(::getpid())) == "it does not stop");
  CHECK(tracer_text(1) == "process 1 traces it");
}
