# The driver of tests/integration/names/names_match.sh.
add_executable(symbolize_tool ${CMAKE_CURRENT_SOURCE_DIR}/support/symbolize_tool.cc)
target_link_libraries(symbolize_tool PRIVATE heapprof_cli_symbolize heapprof_warnings)
set_target_properties(symbolize_tool PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/support)

# symbolize_programs/NAME/shapes: one program, compiled in every way; a folder each, because split DWARF leaves files
# beside it.
set(symbolize_sources ${CMAKE_CURRENT_SOURCE_DIR}/unit/symbolize/programs)
set(symbolize_folder ${CMAKE_CURRENT_BINARY_DIR}/symbolize_programs)
set(symbolize_names "")
set(symbolize_files "")
add_library(symbolize_record OBJECT ${symbolize_sources}/record.c)
set_target_properties(symbolize_record PROPERTIES COMPILE_OPTIONS "-O2;-g" POSITION_INDEPENDENT_CODE ON)
# Compiled by a relative name and linked separately, as real builds do.
function(add_shapes_program name compiler)
  set(folder ${symbolize_folder}/${name})
  add_custom_command(
    OUTPUT ${folder}/shapes
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND ${CMAKE_COMMAND} -E chdir ${symbolize_sources} ${compiler} -std=c++20 ${ARGN} -c shapes.cc -o ${folder}/shapes.o
    COMMAND ${compiler} ${ARGN} -Wl,--build-id $<TARGET_OBJECTS:symbolize_record> ${folder}/shapes.o -o ${folder}/shapes
    DEPENDS ${symbolize_sources}/shapes.cc symbolize_record $<TARGET_OBJECTS:symbolize_record>
    COMMENT "Building ${name}/shapes" VERBATIM)
  set(symbolize_names ${symbolize_names} ${name} PARENT_SCOPE)
  set(symbolize_files ${symbolize_files} ${folder}/shapes PARENT_SCOPE)
endfunction()

# The asan preset is compiled by clang; programs of both compilers are there all the same.
set(SYMBOLIZE_GCC ${CMAKE_CXX_COMPILER})
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  find_program(SYMBOLIZE_GXX NAMES g++ REQUIRED)
  set(SYMBOLIZE_GCC ${SYMBOLIZE_GXX})
endif()
add_shapes_program(gcc_O0 ${SYMBOLIZE_GCC} -O0 -g)
add_shapes_program(gcc_O1 ${SYMBOLIZE_GCC} -O1 -g)
add_shapes_program(gcc_O2 ${SYMBOLIZE_GCC} -O2 -g -rdynamic)
add_shapes_program(gcc_dwarf4 ${SYMBOLIZE_GCC} -O2 -g -gdwarf-4)
add_shapes_program(gcc_split ${SYMBOLIZE_GCC} -O2 -g -gsplit-dwarf)
add_shapes_program(gcc_split_dwarf4 ${SYMBOLIZE_GCC} -O2 -g -gsplit-dwarf -gdwarf-4)
add_shapes_program(gcc_lto ${SYMBOLIZE_GCC} -O2 -g -flto=auto)
add_shapes_program(gcc_types ${SYMBOLIZE_GCC} -O2 -g -fdebug-types-section)
add_shapes_program(gcc_compressed ${SYMBOLIZE_GCC} -O2 -g -gz)
add_shapes_program(gcc_zstd ${SYMBOLIZE_GCC} -O2 -g -Wl,--compress-debug-sections=zstd)
add_shapes_program(gcc_no_pie ${SYMBOLIZE_GCC} -O2 -g -no-pie -fno-pie)
add_shapes_program(gcc_sections ${SYMBOLIZE_GCC} -O2 -g -ffunction-sections -Wl,--gc-sections)
find_program(SYMBOLIZE_CLANG NAMES clang++ clang++-19 clang++-18 clang++-17 clang++-16 clang++-15 clang++-14)
if(SYMBOLIZE_CLANG)
  add_shapes_program(clang_O0 ${SYMBOLIZE_CLANG} -O0 -g)
  add_shapes_program(clang_O2 ${SYMBOLIZE_CLANG} -O2 -g)
  add_shapes_program(clang_dwarf4 ${SYMBOLIZE_CLANG} -O2 -g -gdwarf-4)
  add_shapes_program(clang_split ${SYMBOLIZE_CLANG} -O2 -g -gsplit-dwarf)
  add_shapes_program(clang_split_dwarf4 ${SYMBOLIZE_CLANG} -O2 -g -gsplit-dwarf -gdwarf-4)
  find_program(SYMBOLIZE_LLD NAMES ld.lld)
  if(SYMBOLIZE_LLD)
    add_shapes_program(clang_lto ${SYMBOLIZE_CLANG} -O2 -g -flto -fuse-ld=lld -Wno-unused-command-line-argument)
    add_shapes_program(clang_sections ${SYMBOLIZE_CLANG} -O2 -g -ffunction-sections -fuse-ld=lld -Wl,--gc-sections
                       -Wno-unused-command-line-argument)
  endif()
endif()

# Written in assembly: debug information that no compiler makes.
if(CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
  add_custom_command(
    OUTPUT ${symbolize_folder}/contradictory/shapes
    COMMAND ${CMAKE_COMMAND} -E make_directory ${symbolize_folder}/contradictory
    COMMAND ${SYMBOLIZE_GCC} ${symbolize_sources}/contradictory.S $<TARGET_OBJECTS:symbolize_record>
            -o ${symbolize_folder}/contradictory/shapes
    DEPENDS ${symbolize_sources}/contradictory.S symbolize_record $<TARGET_OBJECTS:symbolize_record>
    COMMENT "Building contradictory/shapes" VERBATIM)
  list(APPEND symbolize_files ${symbolize_folder}/contradictory/shapes)
endif()

# Rust programs of the same kind, one for each way of mangling; without rustc their test says so.
find_program(SYMBOLIZE_RUSTC NAMES rustc)
set(symbolize_rust_names "")
function(add_rust_program name)
  set(folder ${symbolize_folder}/${name})
  add_custom_command(
    OUTPUT ${folder}/shapes
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND ${CMAKE_COMMAND} -E chdir ${symbolize_sources} ${SYMBOLIZE_RUSTC} --edition 2021 -g -C opt-level=2 ${ARGN}
            -C link-arg=$<TARGET_OBJECTS:symbolize_record> shapes.rs -o ${folder}/shapes
    DEPENDS ${symbolize_sources}/shapes.rs symbolize_record $<TARGET_OBJECTS:symbolize_record>
    COMMENT "Building ${name}/shapes" VERBATIM)
  set(symbolize_rust_names ${symbolize_rust_names} ${name} PARENT_SCOPE)
  set(symbolize_files ${symbolize_files} ${folder}/shapes PARENT_SCOPE)
endfunction()
if(SYMBOLIZE_RUSTC)
  add_rust_program(rust_v0 -C symbol-mangling-version=v0)
  # Still there, but no longer a stable flag; this variable of rustc's own lets the stable compiler take it.
  execute_process(COMMAND ${CMAKE_COMMAND} -E env RUSTC_BOOTSTRAP=1 ${SYMBOLIZE_RUSTC} -Zunstable-options
                          -Csymbol-mangling-version=legacy --print sysroot RESULT_VARIABLE no_legacy OUTPUT_QUIET ERROR_QUIET)
  if(no_legacy EQUAL 0)
    set(saved ${SYMBOLIZE_RUSTC})
    set(SYMBOLIZE_RUSTC ${CMAKE_COMMAND} -E env RUSTC_BOOTSTRAP=1 ${SYMBOLIZE_RUSTC} -Zunstable-options)
    add_rust_program(rust_legacy -C symbol-mangling-version=legacy)
    set(SYMBOLIZE_RUSTC ${saved})
  endif()
endif()

add_custom_target(symbolize_programs DEPENDS ${symbolize_files})
add_dependencies(unit_symbolize symbolize_programs)
list(JOIN symbolize_names "," symbolize_names)
list(JOIN symbolize_rust_names "," symbolize_rust_names)
target_compile_definitions(unit_symbolize PRIVATE SYMBOLIZE_NAMES="${symbolize_names}" SYMBOLIZE_RUST_NAMES="${symbolize_rust_names}")
# The path of the build folder is known to one file: what is compiled with it is compiled anew in each folder.
set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/unit/symbolize/test_programs.cc PROPERTIES COMPILE_DEFINITIONS SYMBOLIZE_PROGRAMS="${symbolize_folder}")
