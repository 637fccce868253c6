add_library(target_bump_malloc SHARED targets/loader/plugins/bump_malloc.cc)
set_target_properties(target_bump_malloc PROPERTIES OUTPUT_NAME bump_malloc LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/targets)
target_compile_options(target_bump_malloc PRIVATE -g -O2 -fno-builtin)
target_link_libraries(target_signals PRIVATE -Wl,--no-as-needed target_bump_malloc)
