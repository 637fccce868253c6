// cli/read/toml_library.cc: the body of toml++, compiled once; toml_reader.h and its users see declarations only.
#define TOML_IMPLEMENTATION
#include <toml++/toml.h>
