# Compiler settings shared by every target: cache, sanitizers, link-time optimisation, warnings.
include_guard()

# A compiler cache knows no file that uses a precompiled header of another build: one or the other.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT TRACELENS_PCH AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

# For all files alike: a precompiled header serves only files compiled with the same macros.
add_compile_options(-pthread)

# Numbers must not depend on the machine: without this, arm64 joins a * b + c into one rounding.
add_compile_options(-ffp-contract=off)

if(TRACELENS_SANITIZE)
  add_compile_options(-fsanitize=${TRACELENS_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${TRACELENS_SANITIZE})
endif()
if(TRACELENS_FUZZ)
  # Coverage counters in our code; libFuzzer's own main comes with each fuzzer (tl_fuzzer).
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

if(TRACELENS_LTO)
  include(CheckIPOSupported)
  check_ipo_supported(LANGUAGES CXX)
  set(CMAKE_INTERPROCEDURAL_OPTIMIZATION ON)
endif()

# Warnings for our own code only: every target of ours links this PRIVATE. Who only runs the program
# need not wait for them.
add_library(tl_warnings INTERFACE)
if(TRACELENS_DEV OR TRACELENS_WERROR)
  target_compile_options(tl_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wconversion -Wshadow $<$<BOOL:${TRACELENS_WERROR}>:-Werror>)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND TRACELENS_PCH)
  # GCC 12 is wrong about moved strings, and a precompiled header is no system header to it. Clang and
  # the sanitizers look for the real ones.
  target_compile_options(tl_warnings INTERFACE -Wno-array-bounds -Wno-stringop-overflow -Wno-restrict)
endif()
