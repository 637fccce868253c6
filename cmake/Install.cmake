# `cmake --install` puts agent, tool, headers, Python module, man pages and completions where they belong. The tool
# finds its agent by its own place, so the whole prefix can be moved.
#
# scripts/package takes the component `portable` instead of `tool`; an installation of everything leaves it out.
#
# What is installed is stripped, its debug information in a file beside it: of 29 MB of the tool, 4 are code.
function(heapprof_install target kind folder component)
  if(NOT TARGET ${target})
    return()
  endif()
  install(TARGETS ${target} ${kind} DESTINATION ${folder} COMPONENT ${component} ${ARGN})
  install(CODE "set(objcopy \"${CMAKE_OBJCOPY}\")
set(file \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${folder}/$<TARGET_FILE_NAME:${target}>\")
include(\"${PROJECT_SOURCE_DIR}/cmake/SplitDebug.cmake\")" COMPONENT ${component} ${ARGN})
endfunction()
heapprof_install(heapprof RUNTIME ${CMAKE_INSTALL_BINDIR} tool)
heapprof_install(heapprof_portable RUNTIME ${CMAKE_INSTALL_BINDIR} portable EXCLUDE_FROM_ALL)
heapprof_install(heapprof_agent LIBRARY ${CMAKE_INSTALL_LIBDIR}/heapprof Unspecified)
heapprof_install(heapprof_nvml RUNTIME ${CMAKE_INSTALL_LIBDIR}/heapprof Unspecified)
heapprof_install(heapprof_verify LIBRARY ${CMAKE_INSTALL_LIBDIR}/heapprof verify)

file(GLOB public_headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/shared/include/heapprof/*.h
     ${PROJECT_SOURCE_DIR}/shared/include/heapprof/*.hpp)
if(public_headers)
  install(FILES ${public_headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/heapprof)
endif()

# The Python module. Debian's own python3 finds it by itself where the prefix is /usr; elsewhere PYTHONPATH or a .pth
# file names the folder. What lies beside it, as pip would put it there, lets pytest find its plugin.
if(DEFINED HEAPPROF_PYTHON_DIR)  # below the prefix, by -DHEAPPROF_PYTHON_DIR=…
elseif(CMAKE_INSTALL_PREFIX STREQUAL "/usr" AND EXISTS /etc/debian_version)
  set(HEAPPROF_PYTHON_DIR lib/python3/dist-packages)
else()
  set(HEAPPROF_PYTHON_DIR ${CMAKE_INSTALL_LIBDIR}/heapprof/python)
endif()
configure_file(${PROJECT_SOURCE_DIR}/shared/python/METADATA.in ${PROJECT_BINARY_DIR}/python/METADATA @ONLY)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/shared/python/heapprof DESTINATION ${HEAPPROF_PYTHON_DIR}
        FILES_MATCHING PATTERN "*.py" PATTERN __pycache__ EXCLUDE)
install(FILES ${PROJECT_BINARY_DIR}/python/METADATA ${PROJECT_SOURCE_DIR}/shared/python/entry_points.txt
        DESTINATION ${HEAPPROF_PYTHON_DIR}/heapprof-${PROJECT_VERSION}.dist-info)

# man/NAME.SECTION.scd becomes share/man/manSECTION/NAME.SECTION.
file(GLOB page_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/man/*.scd)
find_program(SCDOC scdoc)
if(page_sources AND NOT SCDOC)
  message(WARNING "scdoc is missing: the man pages will not be built or installed (Debian: apt-get install scdoc)")
elseif(page_sources)
  set(pages)
  foreach(source IN LISTS page_sources)
    get_filename_component(page ${source} NAME_WLE)
    string(REGEX MATCH "[0-9]$" section ${page})
    set(output ${PROJECT_BINARY_DIR}/share/man/man${section}/${page})
    add_custom_command(OUTPUT ${output} DEPENDS ${source} VERBATIM
      COMMAND ${CMAKE_COMMAND} -E make_directory ${PROJECT_BINARY_DIR}/share/man/man${section}
      COMMAND sh -c "\"$1\" <\"$2\" >\"$3\" || { rm -f \"$3\"; exit 1; }" sh ${SCDOC} ${source} ${output}
      COMMENT "man page ${page}")
    list(APPEND pages ${output})
    install(FILES ${output} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
  endforeach()
  add_custom_target(man ALL DEPENDS ${pages})
  # One page is about several commands: their names lead to it.
  foreach(name resume mark)
    set(link ${PROJECT_BINARY_DIR}/share/man/man1/heapprof-${name}.1)
    file(WRITE ${link} ".so man1/heapprof-pause.1\n")
    install(FILES ${link} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  endforeach()
endif()

# Each shell looks for completions in its own place, by name.
foreach(pair "heapprof.bash|bash-completion/completions|heapprof" "_heapprof|zsh/site-functions|_heapprof"
             "heapprof.fish|fish/vendor_completions.d|heapprof.fish")
  string(REPLACE "|" ";" pair ${pair})
  list(GET pair 0 source)
  list(GET pair 1 folder)
  list(GET pair 2 name)
  if(EXISTS ${PROJECT_SOURCE_DIR}/completions/${source})
    install(FILES ${PROJECT_SOURCE_DIR}/completions/${source} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder} RENAME ${name})
  endif()
endforeach()

install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/THIRD_PARTY.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR})

# find_package(heapprof) and pkg-config; both go by their own place, as the tool does.
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/heapprof)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/heapprofConfig.cmake.in ${PROJECT_BINARY_DIR}/heapprofConfig.cmake
  INSTALL_DESTINATION ${package_folder} PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/heapprofConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/heapprofConfig.cmake ${PROJECT_BINARY_DIR}/heapprofConfigVersion.cmake
        ${PROJECT_SOURCE_DIR}/cmake/HeapprofAddTest.cmake DESTINATION ${package_folder})
file(RELATIVE_PATH HEAPPROF_PC_UP /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(${PROJECT_SOURCE_DIR}/cmake/heapprof.pc.in ${PROJECT_BINARY_DIR}/heapprof.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/heapprof.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
