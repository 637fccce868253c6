# The attacker in parts, twice: with libc's malloc, and as attack_own with one that may be interrupted anywhere; and the
# plugins, which need no other library.
set(attack_parts books sites heap loader processes images threads signals limits)
list(TRANSFORM attack_parts PREPEND targets/attack/parts/)
list(TRANSFORM attack_parts APPEND .cc)
target_sources(target_attack PRIVATE ${attack_parts})

add_library(target_attack_malloc SHARED targets/attack/parts/async_malloc.cc)
target_compile_options(target_attack_malloc PRIVATE -g -O1 -fno-builtin -fvisibility=default)
add_executable(target_attack_own targets/attack/attack.cc ${attack_parts})
target_compile_options(target_attack_own PRIVATE -g -O1 -fno-builtin-malloc -Wall -Wextra -Werror)
target_compile_definitions(target_attack_own PRIVATE ATTACK_OWN_MALLOC)
target_link_libraries(target_attack_own PRIVATE Threads::Threads ${CMAKE_DL_LIBS} -Wl,--no-as-needed target_attack_malloc)
set_target_properties(target_attack_malloc PROPERTIES OUTPUT_NAME attack_malloc
                      LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/targets)
set_target_properties(target_attack_own PROPERTIES OUTPUT_NAME attack_own
                      RUNTIME_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/targets)
foreach(plugin RANGE 5)
  add_library(target_attack_plugin_${plugin} MODULE targets/attack/plugins/plugin.cc)
  set_target_properties(target_attack_plugin_${plugin} PROPERTIES OUTPUT_NAME attack_plugin_${plugin} PREFIX ""
                        LIBRARY_OUTPUT_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/targets)
  target_compile_definitions(target_attack_plugin_${plugin} PRIVATE PLUGIN=${plugin})
  target_compile_options(target_attack_plugin_${plugin} PRIVATE -g -O1 -fno-stack-protector -fvisibility=default)
  target_link_options(target_attack_plugin_${plugin} PRIVATE -nostdlib)
endforeach()
