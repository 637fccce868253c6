// tests/support/symbolize_tool.cc: prints the frames of program counters in one ELF file, to compare with other tools'.
//
//   symbolize_tool FILE [DEBUG_FOLDERS] < ADDRESSES
//
// An address a line, hexadecimal, as in the ELF file, inside the instruction meant (what addr2line and llvm-symbolizer
// take).
// Output: a line per frame, innermost first: ADDRESS, function, file, line, inlined (i) or not (-), separated by tabs;
// an address without names has one line with empty fields. Standard error says how long it took.
#include "cli/symbolize/symbolizer.h"

#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>

using namespace heapprof::cli;

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: symbolize_tool FILE [DEBUG_FOLDERS] < ADDRESSES\n");
    return 2;
  }
  std::vector<Module> modules(1);
  modules[0].path = argv[1];
  SymbolizeOptions options;
  if (argc > 2) options.debug_folders = argv[2];
  std::vector<Location> locations;
  for (std::string line; std::getline(std::cin, line);) {
    if (!line.empty()) locations.push_back({0, std::stoull(line, nullptr, 16) + 1});
  }
  SymbolizeReport report;
  auto start = std::chrono::steady_clock::now();
  SymbolTable table = symbolize(modules, locations, options, &report);
  double elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  for (size_t i = 0; i < locations.size(); ++i) {
    unsigned long long address = locations[i].svma - 1;
    if (table.frames[i].empty()) std::printf("0x%llx\t\t\t0\t-\n", address);
    for (const SourceFrame& frame : table.frames[i]) {
      std::printf("0x%llx\t%s\t%s\t%u\t%c\n", address, frame.function.c_str(), frame.file.c_str(), frame.line,
                  frame.inlined ? 'i' : '-');
    }
  }
  std::fprintf(stderr, "%zu locations, %zu with a name, %.3f s\n", locations.size(), report.resolved_locations,
               elapsed_s);
  for (const std::string& path : report.unreadable_modules) std::fprintf(stderr, "unreadable: %s\n", path.c_str());
  for (const std::string& path : report.modules_without_symbols) std::fprintf(stderr, "no names: %s\n", path.c_str());
  return report.unreadable_modules.empty() ? 0 : 1;
}
