// cli/base/output.h: stdout is the product: written whole, or the user is told. And the numbers 0 to 2 stay what they
// are.
#pragma once

#include "cli/base/byte_sink.h"

#include <string>
#include <string_view>

namespace heapprof::cli {

// Writes all of `text` on stdout. 0; also if the reader went away (a broken pipe ends quietly); 1 after saying what is
// wrong.
int print_output(std::string_view text);

// The same for what is too long to be held whole: it goes out as it is made.
class OutputSink : public ByteSink {
 public:
  void write(std::string_view bytes) override;
  int finish();  // as print_output

 private:
  std::string buffer_;
  int code_ = 0;  // once it is not 0 nothing more is written
};

// Puts /dev/null on those of descriptors 0 to 2 that are closed, so that no file of ours gets such a number and what is
// meant for a terminal never ends up in it. Close-on-exec: a program that we start finds them closed, as it would
// without us.
void keep_standard_descriptors();

}  // namespace heapprof::cli
