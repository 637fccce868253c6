# Every dependency comes from Debian's packages; scripts/setup installs them. Each is named by the one part that uses
# it.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
find_path(FMT_INCLUDE_DIR NAMES fmt/format-inl.h REQUIRED)                      # cli: text; cli/base/libfmt.cc compiles it
find_package(CLI11 REQUIRED)                                                    # cli/commands: flags
find_path(RAPIDJSON_INCLUDE_DIR NAMES rapidjson/rapidjson.h REQUIRED)           # cli/read, cli/write: JSON
set(ZLIB_USE_STATIC_LIBS ON)
find_package(ZLIB REQUIRED)                                                     # cli/read, cli/write: what is gzip'd
pkg_check_modules(ELFUTILS REQUIRED IMPORTED_TARGET libdw libelf)               # cli/symbolize: DWARF, ELF
pkg_check_modules(LIBUNWIND REQUIRED IMPORTED_TARGET libunwind)                 # agent/verify: the reference unwinder
find_path(PROTOZERO_INCLUDE_DIR NAMES protozero/pbf_writer.hpp REQUIRED)        # cli/write: pprof's protobuf
find_path(LIBIBERTY_INCLUDE_DIR NAMES libiberty/demangle.h REQUIRED)            # cli/symbolize: C++ and Rust names
find_path(TOMLPLUSPLUS_INCLUDE_DIR NAMES toml++/toml.h REQUIRED)                 # cli/read: budgets
find_library(LIBIBERTY_LIBRARY NAMES libiberty.a REQUIRED)

# cli/inner: instructions of x86, the only ones that it decodes. Zydis would be smaller, but its package has no archive.
add_library(heapprof_capstone INTERFACE)
if(HEAPPROF_ARCH STREQUAL "x86_64")
  find_path(CAPSTONE_INCLUDE_DIR NAMES capstone/capstone.h REQUIRED)
  find_library(CAPSTONE_LIBRARY NAMES libcapstone.a REQUIRED)
  target_include_directories(heapprof_capstone SYSTEM INTERFACE ${CAPSTONE_INCLUDE_DIR})
  target_link_libraries(heapprof_capstone INTERFACE ${CAPSTONE_LIBRARY})
endif()

# cli/serve: HTTP. The archive, as of elfutils; cli/serve/no_tls stands in for the library that its TLS would need.
find_path(MICROHTTPD_INCLUDE_DIR NAMES microhttpd.h REQUIRED)
find_library(MICROHTTPD_LIBRARY NAMES libmicrohttpd.a REQUIRED)
add_library(heapprof_microhttpd INTERFACE)
target_include_directories(heapprof_microhttpd SYSTEM INTERFACE ${MICROHTTPD_INCLUDE_DIR})
target_link_libraries(heapprof_microhttpd INTERFACE ${MICROHTTPD_LIBRARY} heapprof_no_tls Threads::Threads)

# RapidJSON's own configuration names no target, and the folder of the machine itself when another one is built for.
add_library(heapprof_rapidjson INTERFACE)
target_include_directories(heapprof_rapidjson SYSTEM INTERFACE ${RAPIDJSON_INCLUDE_DIR})

add_library(heapprof_protozero INTERFACE)
target_include_directories(heapprof_protozero SYSTEM INTERFACE ${PROTOZERO_INCLUDE_DIR})

# Its package's target asks for the shared library; the headers hold all of it, and cli/read/toml_library.cc compiles
# their body. What it finds is returned, not thrown.
add_library(heapprof_toml INTERFACE)
target_include_directories(heapprof_toml SYSTEM INTERFACE ${TOMLPLUSPLUS_INCLUDE_DIR})
target_compile_definitions(heapprof_toml INTERFACE TOML_HEADER_ONLY=0 TOML_EXCEPTIONS=0 TOML_ENABLE_FORMATTERS=0)

# Archives: of the time to start the tool, the loader took a third for libdw and the four libraries that this needs.
# They need each other in this order. In a tool that is linked statically as a whole, debuginfod is asked in another way
# (cli/CMakeLists.txt).
add_library(heapprof_elfutils INTERFACE)
foreach(archive dw elf bz2 lzma z zstd)
  find_library(HEAPPROF_STATIC_${archive} NAMES lib${archive}.a REQUIRED)
  target_link_libraries(heapprof_elfutils INTERFACE ${HEAPPROF_STATIC_${archive}})
endforeach()
target_link_libraries(heapprof_elfutils INTERFACE ${CMAKE_DL_LIBS})
target_include_directories(heapprof_elfutils SYSTEM INTERFACE ${ELFUTILS_INCLUDE_DIRS})
find_path(ZSTD_INCLUDE_DIR NAMES zstd.h REQUIRED)                                # cli/symbolize: debug sections
