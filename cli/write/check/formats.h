// cli/write/check/formats.h: the files that `heapprof check` writes, each with its own flag.
//
// A new format is one file with one function, one line in formats.cc, and one test that reads it back.
// scripts/check-help compares the flag with the man page and the completions.
#pragma once

#include "cli/base/byte_sink.h"
#include "cli/write/check/check_report.h"

#include <span>

namespace heapprof::cli {

struct CheckFormat {
  const char* flag;   // "--junit"
  const char* value;  // "FILE.xml"
  const char* text;   // for --help
  void (*write)(const CheckReport& report, ByteSink* sink);
};
std::span<const CheckFormat> check_formats();

void write_check_junit(const CheckReport& report, ByteSink* sink);
void write_check_codequality(const CheckReport& report, ByteSink* sink);
void write_check_metrics(const CheckReport& report, ByteSink* sink);
void write_check_sarif(const CheckReport& report, ByteSink* sink);
void write_check_markdown(const CheckReport& report, ByteSink* sink);
void write_check_json(const CheckReport& report, ByteSink* sink);
void write_check_bmf(const CheckReport& report, ByteSink* sink);
void write_check_gha_benchmark(const CheckReport& report, ByteSink* sink);

}  // namespace heapprof::cli
