# Builds for 64-bit Arm on another machine: cmake --preset aarch64, with HEAPPROF_SYSROOT (environment, or -D), a folder
# with Debian 12's development packages for arm64. Without it, the libraries of the machine itself are used (Debian's
# packages of a foreign architecture).
#
# In an unpacked sysroot, symbolic links of libraries may name absolute paths, which the linker would follow outside it:
# make them relative (symlinks -cr FOLDER).
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc-12)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++-12)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

if(NOT HEAPPROF_SYSROOT AND DEFINED ENV{HEAPPROF_SYSROOT})
  set(HEAPPROF_SYSROOT "$ENV{HEAPPROF_SYSROOT}")
endif()
set(HEAPPROF_SYSROOT "${HEAPPROF_SYSROOT}" CACHE PATH "Folder with the libraries and headers of the processor that is built for")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES HEAPPROF_SYSROOT)
if(HEAPPROF_SYSROOT)
  set(CMAKE_SYSROOT "${HEAPPROF_SYSROOT}")
  set(CMAKE_FIND_ROOT_PATH "${HEAPPROF_SYSROOT}")
endif()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
if(HEAPPROF_SYSROOT)
  set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
  set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
  set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
endif()

# pkg-config knows the descriptions of that folder alone.
set(ENV{PKG_CONFIG_DIR} "")
set(ENV{PKG_CONFIG_PATH} "")
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${HEAPPROF_SYSROOT}")
set(ENV{PKG_CONFIG_LIBDIR} "${HEAPPROF_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${HEAPPROF_SYSROOT}/usr/share/pkgconfig")
