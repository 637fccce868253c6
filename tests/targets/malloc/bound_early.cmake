target_compile_options(target_bound_early PRIVATE -fno-pie)
target_link_options(target_bound_early PRIVATE -no-pie -Wl,-z,now)
set_target_properties(target_bound_early PROPERTIES POSITION_INDEPENDENT_CODE OFF)
