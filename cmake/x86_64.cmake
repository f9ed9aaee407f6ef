# Builds for x86-64 Linux on a machine of another kind, with Clang and Debian's x86-64 packages unpacked
# in TL_SYSROOT (tools/cross_x86_64 makes it).
if(NOT CMAKE_HOST_SYSTEM_PROCESSOR STREQUAL x86_64)
  set(CMAKE_SYSTEM_NAME Linux)
  set(CMAKE_SYSTEM_PROCESSOR x86_64)
  # The build runs what it made: the completion scripts come from the program's own flags.
  set(CMAKE_CROSSCOMPILING_EMULATOR qemu-x86_64 -L ${TL_SYSROOT})
endif()
set(CMAKE_LIBRARY_ARCHITECTURE x86_64-linux-gnu)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES TL_SYSROOT)

set(CMAKE_SYSROOT ${TL_SYSROOT})
set(CMAKE_C_COMPILER clang)
set(CMAKE_CXX_COMPILER clang++)
set(CMAKE_CXX_COMPILER_TARGET x86_64-linux-gnu)
add_link_options(-fuse-ld=lld)

# Programs of this machine (protoc), libraries and headers of the other.
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${TL_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR}
    ${TL_SYSROOT}/usr/lib/x86_64-linux-gnu/pkgconfig:${TL_SYSROOT}/usr/share/pkgconfig)
