// tests/targets/gate/planted_whole_file.cc: reads a file as a string, to count its lines.
#include "../keep.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

KEEP_FRAME std::string text_of(const char* path) {
  std::ifstream file(path);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

KEEP_FRAME std::string text_by_stream(const char* path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

int main(int argc, char** argv) {
  if (argc < 2) return 96;
  const std::string text = argc > 2 ? text_by_stream(argv[1]) : text_of(argv[1]);
  return std::count(text.begin(), text.end(), '\n') > 0 ? 0 : 97;
}
