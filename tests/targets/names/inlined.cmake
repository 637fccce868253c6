target_compile_options(target_inlined PRIVATE -O2)
