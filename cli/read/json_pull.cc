// cli/read/json_pull.cc: the grammar is small enough to code directly; what matters is that every loop ends at the end
// of the input or at an error.
#include "cli/read/json_pull.h"

namespace heapprof::cli {
namespace {

constexpr int kDeepest = 64;
constexpr size_t kLongestString = 16 << 20;

bool is_digit(int c) { return c >= '0' && c <= '9'; }

void append_utf8(uint32_t code, std::string* text) {
  if (code < 0x80) {
    *text += static_cast<char>(code);
  } else if (code < 0x800) {
    *text += static_cast<char>(0xc0 | code >> 6);
    *text += static_cast<char>(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    *text += static_cast<char>(0xe0 | code >> 12);
    *text += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    *text += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    *text += static_cast<char>(0xf0 | code >> 18);
    *text += static_cast<char>(0x80 | (code >> 12 & 0x3f));
    *text += static_cast<char>(0x80 | (code >> 6 & 0x3f));
    *text += static_cast<char>(0x80 | (code & 0x3f));
  }
}

// RFC 3629: no overlong forms, no surrogates, nothing beyond U+10FFFF.
bool is_utf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      ++i;
      continue;
    }
    const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    if (lead < 0xc2 || lead > 0xf4 || text.size() - i < length) return false;
    uint32_t code = lead & (0x7fu >> length);
    for (size_t k = 1; k < length; ++k) {
      const auto next = static_cast<unsigned char>(text[i + k]);
      if ((next & 0xc0) != 0x80) return false;
      code = code << 6 | (next & 0x3f);
    }
    if ((length == 3 && code < 0x800) || (length == 4 && (code < 0x10000 || code > 0x10ffff))) return false;
    if (code >= 0xd800 && code <= 0xdfff) return false;
    i += length;
  }
  return true;
}

}  // namespace

bool JsonPull::refill() {
  if (failed()) return false;
  consumed_before_ += static_cast<uint64_t>(end_ - piece_);
  const std::string_view next = source_->next();
  piece_ = at_ = next.data();
  end_ = at_ + next.size();
  if (next.empty() && !source_->error().empty()) return syntax_error(source_->error());
  return !next.empty();
}

bool JsonPull::syntax_error(std::string_view reason) {
  if (failed()) return false;
  is_syntax_error_ = true;
  error_ = reason;
  return false;
}

bool JsonPull::fail(std::string_view reason) {
  if (!failed()) error_ = reason;
  return false;
}

int JsonPull::peek_after_space() {
  // Nearly always the next byte is in the piece and is not white space. After an error refill() gives nothing more.
  if (at_ != end_ && static_cast<unsigned char>(*at_) > ' ' && !failed()) return static_cast<unsigned char>(*at_);
  if (failed()) return -1;
  int c = peek();
  while (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
    ++at_;
    c = peek();
  }
  return c;
}

char JsonPull::peek_kind() {
  const int c = peek_after_space();
  if (c < 0) return 0;
  if (c == 0) return '?';  // a zero byte is not the end
  return is_digit(c) ? '0' : static_cast<char>(c);
}

bool JsonPull::open_group(char open, std::string_view expected) {
  const int c = peek_after_space();
  if (c < 0) return syntax_error("the file ends early");
  if (c != open) return fail(expected);
  if (++depth_ > kDeepest) return fail("objects are nested more than 64 deep");
  ++at_;
  is_first_ = true;
  return true;
}

bool JsonPull::begin_object() { return open_group('{', "an object was expected"); }
bool JsonPull::begin_array() { return open_group('[', "an array was expected"); }

bool JsonPull::next_key(std::string* key) {
  int c = peek_after_space();
  if (c == '}') {
    ++at_;
    --depth_;
    is_first_ = false;
    return false;
  }
  if (!is_first_) {
    if (c != ',') return syntax_error(c < 0 ? "the file ends early" : "a comma or } was expected");
    ++at_;
    c = peek_after_space();
  }
  is_first_ = false;
  if (c != '"') return syntax_error(c < 0 ? "the file ends early" : "a name in quotes was expected");
  if (!read_string(key)) return false;
  if (peek_after_space() != ':') return syntax_error("a colon was expected");
  ++at_;
  return true;
}

bool JsonPull::next_element() {
  const int c = peek_after_space();
  if (c == ']') {
    ++at_;
    --depth_;
    is_first_ = false;
    return false;
  }
  if (is_first_) {
    is_first_ = false;
    return c >= 0 || syntax_error("the file ends early");
  }
  if (c != ',') return syntax_error(c < 0 ? "the file ends early" : "a comma or ] was expected");
  ++at_;
  return !failed();
}

// Reads a short number that ends inside the piece, as nearly all do: no overflow is possible, and no byte is missing.
bool JsonPull::read_short_number(uint64_t* value) {
  constexpr int kMostDigits = 18;
  if (end_ - at_ <= kMostDigits || *at_ == '0') return false;
  uint64_t sum = 0;
  const char* digit = at_;
  for (; digit != at_ + kMostDigits && is_digit(*digit); ++digit) sum = sum * 10 + static_cast<uint64_t>(*digit - '0');
  if (digit == at_ || (*digit != ',' && *digit != ']' && *digit != '}')) return false;
  at_ = digit;
  *value = sum;
  return true;
}

bool JsonPull::read_digits(uint64_t* value) {
  if (read_short_number(value)) return true;
  int c = peek();
  if (!is_digit(c)) return fail("an integer was expected");
  if (c == '0') {
    ++at_;
    *value = 0;
    c = peek();
    if (is_digit(c)) return syntax_error("a number starts with 0");
  } else {
    uint64_t sum = 0;
    for (; is_digit(c); c = peek()) {
      if (__builtin_mul_overflow(sum, uint64_t{10}, &sum) ||
          __builtin_add_overflow(sum, static_cast<uint64_t>(c - '0'), &sum)) {
        return fail("an integer is beyond 64 bits");
      }
      ++at_;
    }
    *value = sum;
  }
  if (c == '.' || c == 'e' || c == 'E') return fail("an integer was expected, not a fraction");
  return !failed();
}

bool JsonPull::read_unsigned(uint64_t* value) {
  const int c = peek_after_space();
  if (c == '-') return fail("a number is negative");
  if (c < 0) return syntax_error("the file ends early");
  return read_digits(value);
}

bool JsonPull::read_signed(int64_t* value) {
  const bool is_negative = peek_after_space() == '-';
  if (is_negative) ++at_;
  uint64_t magnitude = 0;
  if (!read_digits(&magnitude)) return false;
  if (magnitude > static_cast<uint64_t>(INT64_MAX) + (is_negative ? 1 : 0)) return fail("an integer is beyond 64 bits");
  *value = static_cast<int64_t>(is_negative ? 0 - magnitude : magnitude);
  return true;
}

bool JsonPull::expect_word(std::string_view word) {
  for (const char c : word) {
    if (peek() != static_cast<unsigned char>(c)) return syntax_error("a value was expected");
    ++at_;
  }
  return true;
}

bool JsonPull::read_bool(bool* value) {
  const int c = peek_after_space();
  if (c != 't' && c != 'f') return fail("true or false was expected");
  *value = c == 't';
  return expect_word(*value ? "true" : "false");
}

bool JsonPull::read_hex4(uint32_t* code) {
  *code = 0;
  for (int i = 0; i < 4; ++i) {
    const int c = peek();
    const int lower = c | 0x20;
    if (!is_digit(c) && !(lower >= 'a' && lower <= 'f')) return syntax_error("\\u needs four hexadecimal digits");
    *code = *code << 4 | static_cast<uint32_t>(is_digit(c) ? c - '0' : lower - 'a' + 10);
    ++at_;
  }
  return true;
}

bool JsonPull::read_escape(std::string* value) {
  ++at_;  // the backslash
  const int c = peek();
  if (c < 0) return syntax_error("the file ends early");
  ++at_;
  switch (c) {
    case '"':
    case '\\':
    case '/': *value += static_cast<char>(c); return true;
    case 'b': *value += '\b'; return true;
    case 'f': *value += '\f'; return true;
    case 'n': *value += '\n'; return true;
    case 'r': *value += '\r'; return true;
    case 't': *value += '\t'; return true;
    case 'u': break;
    default: return syntax_error("an unknown escape in a string");
  }
  uint32_t code = 0;
  if (!read_hex4(&code)) return false;
  if (code >= 0xd800 && code <= 0xdbff) {
    uint32_t low = 0;
    if (peek() != '\\') return syntax_error("half a surrogate pair in a string");
    ++at_;
    if (peek() != 'u') return syntax_error("half a surrogate pair in a string");
    ++at_;
    if (!read_hex4(&low)) return false;
    if (low < 0xdc00 || low > 0xdfff) return syntax_error("half a surrogate pair in a string");
    code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
  } else if (code >= 0xdc00 && code <= 0xdfff) {
    return syntax_error("half a surrogate pair in a string");
  }
  append_utf8(code, value);
  return true;
}

bool JsonPull::read_string(std::string* value) {
  const int open = peek_after_space();
  if (open < 0) return syntax_error("the file ends early");
  if (open != '"') return fail("a string was expected");
  ++at_;
  value->clear();
  for (;;) {
    if (peek() < 0) return syntax_error("the file ends inside a string");
    const char* start = at_;
    while (at_ != end_ && *at_ != '"' && *at_ != '\\' && static_cast<unsigned char>(*at_) >= 0x20) ++at_;
    value->append(start, at_);
    if (value->size() > kLongestString) return fail("a string is longer than 16 MiB");
    if (at_ == end_) continue;
    if (*at_ == '"') break;
    if (*at_ != '\\') return syntax_error("a control character in a string");
    if (!read_escape(value)) return false;
  }
  ++at_;
  return is_utf8(*value) || syntax_error("a string is not UTF-8");
}

bool JsonPull::skip_number() {
  if (peek() == '-') ++at_;
  int c = peek();
  if (!is_digit(c)) return syntax_error("a value was expected");
  const bool starts_with_zero = c == '0';
  ++at_;
  if (starts_with_zero && is_digit(peek())) return syntax_error("a number starts with 0");
  while (is_digit(peek())) ++at_;
  if (peek() == '.') {
    ++at_;
    if (!is_digit(peek())) return syntax_error("a number ends with its point");
    while (is_digit(peek())) ++at_;
  }
  c = peek();
  if (c == 'e' || c == 'E') {
    ++at_;
    c = peek();
    if (c == '+' || c == '-') ++at_;
    if (!is_digit(peek())) return syntax_error("a number has no exponent after its e");
    while (is_digit(peek())) ++at_;
  }
  return !failed();
}

bool JsonPull::skip_value() {
  const int c = peek_after_space();
  if (c < 0) return syntax_error("the file ends early");
  switch (c) {
    case '{': {  // depth is bounded by begin_object
      if (!begin_object()) return false;
      while (next_key(&scratch_)) {
        if (!skip_value()) return false;
      }
      return !failed();
    }
    case '[': {
      if (!begin_array()) return false;
      while (next_element()) {
        if (!skip_value()) return false;
      }
      return !failed();
    }
    case '"': return read_string(&scratch_);
    case 't': return expect_word("true");
    case 'f': return expect_word("false");
    case 'n': return expect_word("null");
    default: return skip_number();
  }
}

bool JsonPull::expect_end() {
  if (peek_after_space() >= 0) return syntax_error("there is more after the end of the object");
  return !failed();
}

}  // namespace heapprof::cli
