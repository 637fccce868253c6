foreach(plugin alpha beta)
  add_library(target_plugin_${plugin} MODULE targets/loader/plugins/plugin.cc)
  set_target_properties(target_plugin_${plugin} PROPERTIES OUTPUT_NAME plugin_${plugin} PREFIX ""
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/targets)
  target_compile_definitions(target_plugin_${plugin} PRIVATE PLUGIN_FUNCTION=${plugin}_allocate)
  target_compile_options(target_plugin_${plugin} PRIVATE -g -O1 -fno-builtin-malloc)
endforeach()
