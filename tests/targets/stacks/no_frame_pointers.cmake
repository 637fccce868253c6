target_compile_options(target_no_frame_pointers PRIVATE -O2 -fomit-frame-pointer)
