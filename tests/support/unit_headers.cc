// tests/support/unit_headers.cc: holds nothing; its target parses Catch2 for all unit tests (tests/CMakeLists.txt).
