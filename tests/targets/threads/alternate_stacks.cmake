target_link_libraries(target_alternate_stacks PRIVATE -Wl,-z,now -Wl,--no-as-needed target_bump_malloc)
