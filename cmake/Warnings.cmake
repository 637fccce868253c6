# One interface target carries the warnings; they are errors.
add_library(heapprof_warnings INTERFACE)
target_compile_options(heapprof_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wno-sign-conversion
                                                   -Wnon-virtual-dtor -Wcast-qual -Wvla -Werror)
# Where files share a translation unit, the names of one hide those of another, and nothing is wrong.
if(NOT HEAPPROF_UNITY)
  target_compile_options(heapprof_warnings INTERFACE -Wshadow)
endif()
