// cli/write/check/formats.cc: one line per format.
#include "cli/write/check/formats.h"

namespace heapprof::cli {

std::span<const CheckFormat> check_formats() {
  static constexpr CheckFormat kFormats[] = {
      {"--summary", "FILE.md", "Markdown, for a step's summary or a comment", write_check_markdown},
      {"--junit", "FILE.xml", "one test case for each limit", write_check_junit},
      {"--codequality", "FILE.json", "for GitLab's merge requests", write_check_codequality},
      {"--metrics", "FILE.txt", "OpenMetrics, for GitLab and Prometheus", write_check_metrics},
      {"--sarif", "FILE.sarif", "SARIF 2.1.0, for code scanning", write_check_sarif},
      {"--json", "FILE.json", "everything, for scripts", write_check_json},
      {"--bmf", "FILE.json", "for Bencher", write_check_bmf},
      {"--gha-benchmark", "FILE.json", "for github-action-benchmark", write_check_gha_benchmark},
  };
  return kFormats;
}

}  // namespace heapprof::cli
