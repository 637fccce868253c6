// cli/base/output.h: writes a command's output to stdout completely, or shows an error. Also keeps file descriptors 0
// to 2 reserved.
#pragma once

#include "cli/base/byte_sink.h"

#include <string>
#include <string_view>

namespace heapprof::cli {

// Writes all of `text` to stdout. Returns 0, also if the reader went away (a broken pipe ends quietly), or 1 after an
// error message.
int print_output(std::string_view text);

// The same for text that is too long to buffer completely: it is written as it is produced.
class OutputSink : public ByteSink {
 public:
  void write(std::string_view bytes) override;
  int finish();  // as print_output

 private:
  std::string buffer_;
  int code_ = 0;  // once it is not 0, nothing more is written
};

// If one of the descriptors 0 to 2 is closed, opens /dev/null on it. Otherwise a file of heapprof could get that
// number, and text for the terminal would be written into it. /dev/null is close-on-exec: a program that heapprof
// starts finds the descriptor closed, as without heapprof.
void keep_standard_descriptors();

}  // namespace heapprof::cli
