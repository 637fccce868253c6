add_library(target_attach_guard MODULE targets/attach/guard/guard.c)
set_target_properties(target_attach_guard PROPERTIES OUTPUT_NAME attach_guard PREFIX ""
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/targets)
target_compile_options(target_attach_guard PRIVATE -g -O1 -fno-builtin)
