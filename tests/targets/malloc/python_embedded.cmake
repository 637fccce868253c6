add_library(target_object_oracle MODULE targets/malloc/python/object_oracle.cc)
set_target_properties(target_object_oracle PROPERTIES OUTPUT_NAME object_oracle PREFIX ""
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/targets)
target_compile_options(target_object_oracle PRIVATE -g -O2 -Wall -Wextra -Werror)
add_dependencies(target_python_embedded target_object_oracle)
