target_link_options(target_own_names PRIVATE -rdynamic)
target_link_libraries(target_own_names PRIVATE ${CMAKE_DL_LIBS})
