// tests/support/json_document.h: RapidJSON's reader, for tests of what we write.
#pragma once

// As in cli/write/encode/json_stream.h: its code adds to a null pointer.
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("pointer-overflow"))), apply_to = function)
#endif
#include <rapidjson/document.h>
#ifdef __clang__
#pragma clang attribute pop
#endif
