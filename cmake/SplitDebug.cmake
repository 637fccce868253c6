# Run by `cmake --install` on one installed file, ${file}: strips it, and puts its debug information into
# .debug/NAME.debug beside it, where debuggers and heapprof itself look (.gnu_debuglink). `cmake --install --strip` has
# it stripped already, and leaves that out.
if(CMAKE_INSTALL_DO_STRIP)
  return()
endif()
get_filename_component(folder "${file}" DIRECTORY)
get_filename_component(name "${file}" NAME)
file(MAKE_DIRECTORY "${folder}/.debug")
set(debug "${folder}/.debug/${name}.debug")
foreach(step "--only-keep-debug;--compress-debug-sections;${file};${debug}" "--strip-unneeded;${file}" "--remove-section=.gnu_debuglink;${file}"
             "--add-gnu-debuglink=${debug};${file}")
  execute_process(COMMAND "${objcopy}" ${step} RESULT_VARIABLE status ERROR_VARIABLE mistake)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "cannot strip ${file}: ${mistake}")
  endif()
endforeach()
file(CHMOD "${debug}" PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
