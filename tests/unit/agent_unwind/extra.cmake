# The agent's unwinder, compiled as in the agent, and libraries of frames compiled in every way.
set(unwind_test_dir ${CMAKE_CURRENT_SOURCE_DIR}/unit/agent_unwind)
set(unwind_agent_sources
    process/generation process/early process/link_map process/loaded_object process/modules process/own_memory libc/private_memory arch/${HEAPPROF_ARCH}/vector_state unwind/byte_reader unwind/cfi_interpreter unwind/cfi_program unwind/dwarf_expression
    unwind/eh_frame unwind/previous_stack unwind/registered_frames unwind/rule_cache unwind/stack_bounds unwind/target_memory unwind/unwind unwind/make_rule unwind/unwind_rule arch/${HEAPPROF_ARCH}/unwind_rule
    unwind/unwind_slow verify/reference_unwind)
list(TRANSFORM unwind_agent_sources PREPEND ${PROJECT_SOURCE_DIR}/agent/)
list(TRANSFORM unwind_agent_sources APPEND .cc)
add_library(unwind_under_test OBJECT ${unwind_agent_sources})
target_link_libraries(unwind_under_test PRIVATE heapprof_agent_options heapprof_warnings PkgConfig::LIBUNWIND)
# A probe begins a walk as a hook does: with its caller's frame pointer in a known place.
set_source_files_properties(${unwind_test_dir}/probe.cc ${unwind_test_dir}/stack_use_test.cc 
                            PROPERTIES COMPILE_OPTIONS "-O2;-fno-omit-frame-pointer" SKIP_PRECOMPILE_HEADERS ON)
if(HEAPPROF_SANITIZE)  # frames are larger then, and not all in one place
  set_source_files_properties(${unwind_test_dir}/stack_use_test.cc PROPERTIES HEADER_FILE_ONLY ON)
endif()
target_link_libraries(unit_agent_unwind PRIVATE unwind_under_test PkgConfig::LIBUNWIND Threads::Threads ${CMAKE_DL_LIBS})

# shapes_NAME.so: COMPILER and FLAGS of each. The list is in the order of the test's messages.
set(shapes_names "")
function(add_shapes name compiler)
  add_frames(shapes_${name} shapes.cc ${compiler} ${ARGN})
  set(shapes_names ${shapes_names} ${name} PARENT_SCOPE)
  set(shapes_files ${shapes_files} PARENT_SCOPE)
endfunction()
function(add_frames name source compiler)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/shapes/${name}.so)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/shapes
    COMMAND ${compiler} -std=c++20 -fPIC -shared -w -I${PROJECT_SOURCE_DIR} ${ARGN} ${unwind_test_dir}/shapes/${source} -o ${output}
    DEPENDS ${unwind_test_dir}/shapes/${source} ${unwind_test_dir}/shapes/shapes.h
    COMMENT "Building ${name}.so" VERBATIM)
  set(shapes_files ${shapes_files} ${output} PARENT_SCOPE)
endfunction()
find_program(SHAPES_CLANG NAMES clang++ clang++-19 clang++-18 clang++-17 clang++-16 clang++-15 clang++-14)
foreach(kind gcc clang)
  set(shapes_compiler ${CMAKE_CXX_COMPILER})
  if(kind STREQUAL clang)
    set(shapes_compiler ${SHAPES_CLANG})
    if(NOT SHAPES_CLANG)
      continue()
    endif()
  endif()
  add_shapes(${kind}_O0 ${shapes_compiler} -O0)
  add_shapes(${kind}_O1_fp ${shapes_compiler} -O1 -fno-omit-frame-pointer)
  add_shapes(${kind}_O2 ${shapes_compiler} -O2)
  add_shapes(${kind}_O2_fp ${shapes_compiler} -O2 -fno-omit-frame-pointer)
  add_shapes(${kind}_O3_native ${shapes_compiler} -O3 -march=x86-64-v3)
  add_shapes(${kind}_Os ${shapes_compiler} -Os)
endforeach()
add_frames(shapes_gcc_lazy shapes.cc ${CMAKE_CXX_COMPILER} -O2 -Wl,-z,lazy)
# The same functions with other frames at the same addresses: a library that changes while it is unloaded.
add_frames(swap_small swap.cc ${CMAKE_CXX_COMPILER} -O2 -DSWAP_FRAME_BYTES=200)
add_frames(swap_same swap.cc ${CMAKE_CXX_COMPILER} -O2 -DSWAP_FRAME_BYTES=200)
add_frames(swap_large swap.cc ${CMAKE_CXX_COMPILER} -O2 -DSWAP_FRAME_BYTES=1400)
add_library(unwind_early SHARED ${unwind_test_dir}/shapes/early.cc)
target_link_libraries(unit_agent_unwind PRIVATE unwind_early)
target_link_options(unit_agent_unwind PRIVATE -Wl,--export-dynamic-symbol=probe_early)
target_sources(unit_agent_unwind PRIVATE ${unwind_test_dir}/special_frames.S)
add_custom_target(unwind_shapes DEPENDS ${shapes_files})
add_dependencies(unit_agent_unwind unwind_shapes)
list(JOIN shapes_names "," shapes_names)
target_compile_definitions(unit_agent_unwind PRIVATE SHAPES_NAMES="${shapes_names}")
# Only those that load them: what is compiled with the path of a folder is compiled anew in each folder.
set_source_files_properties(${unwind_test_dir}/shapes_test.cc ${unwind_test_dir}/modules_test.cc ${unwind_test_dir}/special_test.cc
                            PROPERTIES COMPILE_DEFINITIONS SHAPES_DIR="${CMAKE_CURRENT_BINARY_DIR}/shapes")

# Not a test: prints the table of tests/bench/unwind.cc.
add_executable(bench_unwind EXCLUDE_FROM_ALL ${CMAKE_CURRENT_SOURCE_DIR}/bench/unwind.cc ${unwind_test_dir}/probe.cc)
set_source_files_properties(${CMAKE_CURRENT_SOURCE_DIR}/bench/unwind.cc PROPERTIES COMPILE_OPTIONS "-O2;-fno-omit-frame-pointer")
target_include_directories(bench_unwind PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(bench_unwind PRIVATE unwind_under_test heapprof_warnings PkgConfig::LIBUNWIND)
