// tests/bench/documents.cc: a program of the shape of a JSON library's tests: texts become trees of small blocks, some
// trees live on, others die at once.
//
//   documents [KEPT [PASSING]]      documents that are kept, and ones that are thrown away; about 90,000 blocks each
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace {

struct Value;
using Object = std::map<std::string, std::unique_ptr<Value>>;
using Array = std::vector<std::unique_ptr<Value>>;

struct Value {
  double number = 0;
  std::unique_ptr<std::string> text;
  std::unique_ptr<Array> array;
  std::unique_ptr<Object> object;
};

class Parser {
 public:
  explicit Parser(const std::string& text) : at_(text.c_str()) {}

  std::unique_ptr<Value> value() {
    auto value = std::make_unique<Value>();
    if (*at_ == '{') {
      value->object = std::make_unique<Object>();
      while (*at_++ != '}') {
        std::string key = string();
        ++at_;
        (*value->object)[std::move(key)] = this->value();
      }
    } else if (*at_ == '[') {
      value->array = std::make_unique<Array>();
      while (*at_++ != ']') value->array->push_back(this->value());
    } else if (*at_ == '"') {
      value->text = std::make_unique<std::string>(string());
    } else {
      char* end = nullptr;
      value->number = std::strtod(at_, &end);
      at_ = end;
    }
    return value;
  }

 private:
  std::string string() {
    std::string text;
    while (*++at_ != '"') text.push_back(*at_);
    ++at_;
    return text;
  }

  const char* at_;
};

std::string make_text(unsigned seed) {
  std::string text = "[";
  for (unsigned i = 0; i < 4000; ++i) {
    const unsigned n = (seed * 4000 + i) * 7919u % 60013u;
    if (i != 0) text += ',';
    text += "{\"id\":" + std::to_string(n) + ",\"name\":\"a customer with the number " + std::to_string(n) +
            "\",\"tags\":[\"t" + std::to_string(n % 13) + "\",\"a longer tag for number " + std::to_string(n % 7) +
            "\"],\"place\":{\"x\":" + std::to_string(n % 97) + ".25,\"y\":" + std::to_string(n % 89) + ".5}}";
  }
  return text + "]";
}

}  // namespace

int main(int argc, char** argv) {
  const unsigned kept = argc > 1 ? static_cast<unsigned>(std::atoi(argv[1])) : 40;
  const unsigned passing = argc > 2 ? static_cast<unsigned>(std::atoi(argv[2])) : 40;
  std::vector<std::unique_ptr<Value>> documents;
  double sum = 0;
  for (unsigned i = 0; i < kept || i < passing; ++i) {
    const std::string text = make_text(i % 5);
    if (i < kept) documents.push_back(Parser(text).value());
    if (i < passing) sum += Parser(text).value()->array->front()->object->at("id")->number;
  }
  std::printf("%zu %.0f\n", documents.size(), sum);
}
