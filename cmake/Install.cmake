# `cmake --install` puts agent, tool, header, man pages and completions where they belong. The tool finds its agent by its own place.
if(TARGET heapprof)
  install(TARGETS heapprof RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
foreach(library heapprof_agent heapprof_verify)
  if(TARGET ${library})
    install(TARGETS ${library} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/heapprof)
  endif()
endforeach()
