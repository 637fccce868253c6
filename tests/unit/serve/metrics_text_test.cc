// tests/unit/serve/metrics_text_test.cc: both texts of metrics, whatever names hold.
#include "cli/serve/metrics_text.h"

#include <catch2/catch.hpp>

#include <regex>
#include <set>
#include <sstream>

using namespace heapprof::cli;

namespace {

ProcessMetrics process_of(const std::string& pid, const std::string& name) {
  ProcessMetrics process;
  process.labels = {{"pid", pid}, {"command", name}};
  process.resident_bytes = 4096;
  TopSample sample;
  sample.age_ns = 1'500'000'001;
  sample.lost_count = 3;
  sample.scope_count = 1;
  TopDevice host;
  host.name = "host";
  host.live_bytes = 7;
  host.peak_bytes = 9;
  host.total_bytes = 100;
  host.total_blocks = 10;
  sample.devices = {host};
  TopScope scope;
  scope.id = 5;
  scope.path = "load > \"json\"\n\\ \xff";
  scope.time_ns = 2'000'000'000;
  sample.scopes = {scope};
  process.sample = sample;
  return process;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("every line of metrics is a head or a sample, and no series comes twice") {
  const std::regex sample(R"re([a-z_]+(\{([a-z_]+="([^"\\\n]|\\[\\"n])*",?)*\})? [0-9.]+)re");
  for (const bool is_open : {true, false}) {
    const std::string text = metrics_text({process_of("1", "a"), process_of("2", "b\"\\\n")}, {is_open, 0});
    std::set<std::string> series;
    for (const std::string& line : lines_of(text)) {
      CAPTURE(is_open, line);
      if (line.rfind("# ", 0) == 0) continue;
      CHECK(std::regex_match(line, sample));
      CHECK(series.insert(line.substr(0, line.rfind(' '))).second);
    }
    CHECK((text.find("# EOF\n") == text.size() - 6) == is_open);
    CHECK((text.find("# UNIT ") != std::string::npos) == is_open);
  }
}

TEST_CASE("counters are called by their families in OpenMetrics, and by their samples before it") {
  const std::string open = metrics_text({process_of("1", "a")}, {true, 0});
  CHECK(open.find("# TYPE heapprof_allocated_bytes counter\n# UNIT heapprof_allocated_bytes bytes\n") !=
        std::string::npos);
  CHECK(open.find("# TYPE heapprof_process info\n") != std::string::npos);
  CHECK(open.find("\nheapprof_allocated_bytes_total{pid=\"1\",command=\"a\",device=\"host\"} 100\n") !=
        std::string::npos);
  CHECK(open.find("\nheapprof_run_seconds{pid=\"1\",command=\"a\"} 1.500000001\n") != std::string::npos);
  CHECK(open.find("\nheapprof_scope_seconds_total{pid=\"1\",command=\"a\",scope=\"load > \\\"json\\\"") !=
        std::string::npos);
  const std::string older = metrics_text({process_of("1", "a")}, {false, 2});
  CHECK(older.find("# TYPE heapprof_allocated_bytes_total counter\n") != std::string::npos);
  CHECK(older.find("# TYPE heapprof_process_info gauge\n") != std::string::npos);
  CHECK(older.find("\nheapprof_processes_left_out 2\n") != std::string::npos);
}

TEST_CASE("a collector that does not answer is down, and its process has no numbers of it") {
  ProcessMetrics silent = process_of("1", "a");
  silent.sample.reset();
  const std::string text = metrics_text({silent}, {true, 0});
  CHECK(text.find("\nheapprof_collector_up{pid=\"1\",command=\"a\"} 0\n") != std::string::npos);
  CHECK(text.find("\nheapprof_resident_bytes{pid=\"1\",command=\"a\"} 4096\n") != std::string::npos);
  CHECK(text.find("heapprof_live_bytes") == std::string::npos);
  CHECK(metrics_text({}, {true, 0}) ==
        "# TYPE heapprof_processes_left_out gauge\n"
        "# HELP heapprof_processes_left_out Processes beyond as many as are served.\n"
        "heapprof_processes_left_out 0\n# EOF\n");
}
