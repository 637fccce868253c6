// cli/write/html/page_blocks.cc: base64 makes data a third larger, but an element's text can hold it. The data is
// compressed before, so a column of a profile takes a byte or two per row.
#include "cli/write/html/page_blocks.h"

#include "cli/write/encode/gzip_sink.h"
#include "cli/write/encode/json_stream.h"

#include <fmt/format.h>

#include <vector>

namespace heapprof::cli {
namespace {

// RFC 4648, section 4.
class Base64Sink : public ByteSink {
 public:
  explicit Base64Sink(ByteSink* to) : to_(to) {}
  void write(std::string_view bytes) override {
    for (const char c : bytes) {
      bits_ = bits_ << 8 | static_cast<unsigned char>(c);
      if (++held_ == 3) put(4);
    }
    hand_on(1 << 15);
  }
  void finish() {
    const int rest = held_;
    if (rest > 0) {
      bits_ <<= 8 * (3 - rest);
      put(rest + 1);
      text_.append(static_cast<size_t>(3 - rest), '=');
    }
    hand_on(0);
  }

 private:
  // Writes the first `characters` of the four characters that encode three bytes.
  void put(int characters) {
    constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (int i = 0; i < characters; ++i) text_ += kDigits[bits_ >> (18 - 6 * i) & 63];
    bits_ = 0;
    held_ = 0;
  }
  void hand_on(size_t most_kept) {
    if (text_.size() <= most_kept) return;
    to_->write(text_);
    text_.clear();
  }

  ByteSink* to_;
  std::string text_;
  uint32_t bits_ = 0;
  int held_ = 0;  // bytes in bits_
};

}  // namespace

std::string PageTexts::json() const {
  std::vector<const std::string*> texts(numbers_.size());
  for (const auto& [text, number] : numbers_) texts[number] = &text;
  StringSink sink;
  JsonWriter json(&sink);
  json.begin_array();
  for (const std::string* text : texts) json.string(*text);
  json.end_array();
  json.finish();
  return sink.text();
}

void write_page_block(std::string_view name, std::string_view bytes, ByteSink* sink) {
  sink->write(fmt::format("<script type=\"application/octet-stream\" id=\"{}\">", name));
  Base64Sink base64(sink);
  GzipSink gzip(&base64);
  gzip.write(bytes);
  gzip.finish();
  base64.finish();
  sink->write("</script>\n");
}

}  // namespace heapprof::cli
