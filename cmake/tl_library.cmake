# The build functions: tl_library (a room of src/), tl_archive (all of them), tl_fuzzer and tl_bench.
include_guard()

# A room is a folder of src/ such as io or analysis/ops. Its headers are published below a directory
# of their own, as <build>/rooms/<room>/<path>/header.hpp: a target whose DEPS list a room finds its
# headers, every other target does not. Nothing is passed on: who sees headers of a room through
# another room's header lists both.
function(tl_room_name out path)
  string(REPLACE "/" "_" name ${path})
  set(${out} ${name} PARENT_SCOPE)
endfunction()

function(tl_room_includes out)
  set(dirs ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/generated)
  foreach(path IN LISTS ARGN)
    tl_room_name(name ${path})
    list(APPEND dirs ${PROJECT_BINARY_DIR}/rooms/${name})
  endforeach()
  set(${out} ${dirs} PARENT_SCOPE)
endfunction()

function(tl_publish path)
  tl_room_name(name ${path})
  cmake_path(SET link ${PROJECT_BINARY_DIR}/rooms/${name}/${path})
  cmake_path(GET link PARENT_PATH parent)
  file(MAKE_DIRECTORY ${parent})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${link} SYMBOLIC)
endfunction()

# tl_library(path [HOT | COLD] [APART] SOURCES ... DEPS ... [PROTOS ...] [LIBS ...] [TESTS ...] [TEST_DEPS ...]
#            [TEST_LIBS ...])
# The objects of one room. DEPS are the rooms whose headers it sees: the layer rule, which
# tools/check_layers.py reads from here too. LIBS are the outside libraries it uses. PROTOS are
# compiled by protoc; x.proto is included as "x.pb.h", by this room and its tests only. TESTS join
# the GoogleTest program of the layer, <layer>_test; TEST_DEPS and TEST_LIBS are what only they use.
# HOT rooms see every byte or event of a trace and are optimised for speed alone (-O3), COLD ones work
# once per table or signature (-O1: a quarter less to wait for); the others would only get larger with
# -O3, and the program's own size is memory too. Its files are compiled several at a time, which saves a
# third of a fresh build; those of an APART room are alike by design, with the same names in each, and
# those of a HOT one run 2% faster by themselves.
function(tl_library path)
  cmake_parse_arguments(ARG "HOT;COLD;APART" "" "SOURCES;DEPS;PROTOS;LIBS;TESTS;TEST_DEPS;TEST_LIBS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tl_library(${path}): unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  tl_publish(${path})
  tl_room_name(name ${path})
  tl_room_includes(includes ${path} ${ARG_DEPS})
  add_library(tl_${name} OBJECT ${ARG_SOURCES})
  target_include_directories(tl_${name} PRIVATE ${includes})
  target_link_libraries(tl_${name} PRIVATE tl_warnings fmt::fmt ${ARG_LIBS})
  set_target_properties(tl_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
  if(NOT ARG_APART AND NOT ARG_HOT)
    tl_together(tl_${name})
  endif()
  if(ARG_HOT)
    tl_optimise(tl_${name} 3)
  elseif(ARG_COLD)
    tl_optimise(tl_${name} 1)
  else()
    tl_optimise(tl_${name} 2)
  endif()
  if(NOT path MATCHES "^(io|trace|sqlite|readers|table|analysis/ranks|report/import|report/convert|query|mcp)")
    tl_without_coverage(tl_${name})
  endif()
  set_property(GLOBAL APPEND PROPERTY TL_ROOMS tl_${name})
  set_property(GLOBAL APPEND PROPERTY TL_LIBS ${ARG_LIBS})
  if(ARG_PROTOS)
    # A target of its own: the generated code does not meet our warnings.
    add_library(tl_${name}_protos OBJECT ${ARG_PROTOS})
    set(proto_dir ${CMAKE_CURRENT_BINARY_DIR}/protos)
    file(MAKE_DIRECTORY ${proto_dir})
    protobuf_generate(TARGET tl_${name}_protos LANGUAGE cpp PROTOC_OUT_DIR ${proto_dir})
    target_link_libraries(tl_${name}_protos PUBLIC protobuf::libprotobuf-lite)
    target_include_directories(tl_${name}_protos SYSTEM PUBLIC ${proto_dir})
    target_compile_options(tl_${name}_protos PRIVATE $<$<CONFIG:Release>:-O2>)
    set_target_properties(tl_${name}_protos PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_include_directories(tl_${name} SYSTEM PRIVATE ${proto_dir})
    add_dependencies(tl_${name} tl_${name}_protos)
    set_property(GLOBAL APPEND PROPERTY TL_ROOMS tl_${name}_protos)
    set_property(GLOBAL APPEND PROPERTY TL_LIBS protobuf::libprotobuf-lite)
  endif()
  if(TRACELENS_DEV AND ARG_TESTS)
    string(REGEX REPLACE "/.*" "" layer ${path})
    list(TRANSFORM ARG_TESTS PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    tl_room_includes(includes ${path} ${ARG_DEPS} ${ARG_TEST_DEPS})
    set_property(GLOBAL APPEND PROPERTY TL_TESTS ${layer})
    set_property(GLOBAL APPEND PROPERTY TL_TEST_SOURCES_${layer} ${ARG_TESTS})
    set_property(GLOBAL APPEND PROPERTY TL_TEST_INCLUDES_${layer} ${includes} ${proto_dir})
    set_property(GLOBAL APPEND PROPERTY TL_TEST_LIBS_${layer} ${ARG_LIBS} ${ARG_TEST_LIBS})
  endif()
endfunction()

# tl_without_coverage(target): not counted for the fuzzers, which are led by the code that takes outside bytes
# apart. The counters in all the rest were a quarter of a sanitized build.
function(tl_without_coverage target)
  if(TRACELENS_FUZZ)
    target_compile_options(${target} PRIVATE -fsanitize-coverage=0)
  endif()
endfunction()

# tl_archive(): libtracelens.a and libtracelens.so of all rooms, and the test program of each layer.
function(tl_archive)
  get_property(rooms GLOBAL PROPERTY TL_ROOMS)
  get_property(libs GLOBAL PROPERTY TL_LIBS)
  list(REMOVE_DUPLICATES libs)
  list(TRANSFORM rooms REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>" OUTPUT_VARIABLE objects)
  foreach(kind STATIC SHARED)
    string(TOLOWER ${kind} suffix)
    add_library(tl_${suffix} ${kind} ${objects})
    target_include_directories(tl_${suffix} PUBLIC
      $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
      $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_compile_features(tl_${suffix} PUBLIC cxx_std_20)
    if(kind STREQUAL SHARED)
      # By its file: as a target it would be asked for where the shared library is used.
      list(TRANSFORM libs REPLACE "^fmt::fmt$" "$<TARGET_LINKER_FILE:fmt::fmt>")
      target_link_options(tl_${suffix} PRIVATE -Wl,-z,nodelete)  # threads may still wait in it (io/helpers.cpp)
    endif()
    target_link_libraries(tl_${suffix} PRIVATE ${libs})
    set_target_properties(tl_${suffix} PROPERTIES OUTPUT_NAME tracelens)
  endforeach()
  # Between 0.x releases the interface may change; within one it may not.
  set_target_properties(tl_static PROPERTIES EXPORT_NAME tracelens)
  set_target_properties(tl_shared PROPERTIES
    EXPORT_NAME tracelens-shared
    VERSION ${PROJECT_VERSION}
    SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
  get_property(layers GLOBAL PROPERTY TL_TESTS)
  list(REMOVE_DUPLICATES layers)
  foreach(layer IN LISTS layers)
    tl_test(${layer})
  endforeach()
endfunction()

# The tests of all rooms of a layer as one program, run in the root of the checkout.
function(tl_test layer)
  foreach(what SOURCES INCLUDES LIBS)
    get_property(${what} GLOBAL PROPERTY TL_TEST_${what}_${layer})
    list(REMOVE_DUPLICATES ${what})
  endforeach()
  add_executable(${layer}_test ${SOURCES})
  target_include_directories(${layer}_test PRIVATE ${INCLUDES})
  target_link_libraries(${layer}_test PRIVATE tl_static tl_warnings fmt::fmt ${LIBS}
                        GTest::gtest_main GTest::gmock)
  # Only what is tested has to be fast; compiling the tests takes a third less this way.
  target_compile_options(${layer}_test PRIVATE -O0)
  tl_without_coverage(${layer}_test)
  tl_precompile(${layer}_test test)
  if(TRACELENS_SANITIZE)
    # One process per layer: the leak check at the end of a process takes seconds on arm64.
    add_test(NAME ${layer}.all COMMAND ${layer}_test WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
    set_tests_properties(${layer}.all PROPERTIES LABELS unit TIMEOUT 7200)
  else()
    # Named layer.Suite.Rule, so that `ctest -R ^readers` runs one layer.
    gtest_discover_tests(${layer}_test TEST_PREFIX ${layer}. WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                         DISCOVERY_TIMEOUT 600 PROPERTIES LABELS unit)
  endif()
endfunction()

# tl_optimise(target level): -O<level> in a release, and the standard headers from a header that was
# precompiled that way. Half of a fresh build is reading headers otherwise; TRACELENS_PCH=OFF shows that
# every file includes what it uses.
function(tl_optimise target level)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O${level}>)
  tl_precompile(${target} O${level})
endfunction()

# TRACELENS_UNITY=OFF compiles each file by itself: faster when few change.
function(tl_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${TRACELENS_UNITY} UNITY_BUILD_BATCH_SIZE 6)
endfunction()

function(tl_precompile target kind)
  if(NOT TRACELENS_PCH)
    return()
  endif()
  if(NOT TARGET tl_pch_${kind})
    set(source ${PROJECT_BINARY_DIR}/generated/pch_${kind}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "")
    add_library(tl_pch_${kind} OBJECT ${source})
    target_link_libraries(tl_pch_${kind} PRIVATE tl_warnings fmt::fmt)
    target_include_directories(tl_pch_${kind} PRIVATE ${PROJECT_SOURCE_DIR}/include)
    set(headers ${PROJECT_SOURCE_DIR}/cmake/precompiled.hpp)
    if(kind STREQUAL test)
      list(APPEND headers <gtest/gtest.h> <gmock/gmock.h>)
      target_link_libraries(tl_pch_${kind} PRIVATE GTest::gtest_main GTest::gmock)
      target_compile_options(tl_pch_${kind} PRIVATE -O0)
    else()
      string(SUBSTRING ${kind} 0 2 option)  # of O1 and of O1_program, whose code is linked in one place
      target_compile_options(tl_pch_${kind} PRIVATE $<$<CONFIG:Release>:-${option}>)
      if(kind STREQUAL option)
        set_target_properties(tl_pch_${kind} PROPERTIES POSITION_INDEPENDENT_CODE ON)
      endif()
    endif()
    target_precompile_headers(tl_pch_${kind} PRIVATE ${headers})
  endif()
  target_precompile_headers(${target} REUSE_FROM tl_pch_${kind})
endfunction()

# tl_fuzzer(name SOURCES ... DEPS ... [LIBS ...]): a libFuzzer target, and a test that replays its
# seed corpus once. Without libFuzzer the same file becomes that test.
function(tl_fuzzer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LIBS" ${ARGN})
  set(corpus ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name})
  if(TRACELENS_FUZZ)
    add_executable(${name} ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE -fsanitize=fuzzer)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzzers)
    if(NOT TARGET fuzzers)
      add_custom_target(fuzzers)
    endif()
    add_dependencies(fuzzers ${name})
    set(replay ${name} -runs=0 -verbosity=0 ${corpus})
  elseif(TRACELENS_DEV)
    add_executable(${name} ${ARG_SOURCES} ${PROJECT_SOURCE_DIR}/tests/fuzz/replay_main.cpp)
    set_property(GLOBAL APPEND PROPERTY TL_FUZZ_REPLAYS ${name})  # for tests/CMakeLists.txt
    set(replay ${name} ${corpus})
  else()
    return()
  endif()
  tl_room_includes(includes ${ARG_DEPS})
  target_include_directories(${name} PRIVATE ${includes})
  target_link_libraries(${name} PRIVATE tl_static ${ARG_LIBS} tl_warnings)
  if(TRACELENS_DEV)
    add_test(NAME fuzz.${name} COMMAND ${replay})
    set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz)
  endif()
endfunction()

# tl_bench(name SOURCES ... DEPS ... [LIBS ...]): a Google Benchmark program for inner loops.
# A test runs each benchmark once, so that its own checks of the result are seen to hold.
function(tl_bench name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LIBS" ${ARGN})
  if(NOT TRACELENS_DEV)
    return()
  endif()
  add_executable(${name} ${ARG_SOURCES})
  tl_room_includes(includes ${ARG_DEPS})
  target_include_directories(${name} PRIVATE ${includes})
  target_link_libraries(${name} PRIVATE tl_static ${ARG_LIBS} tl_warnings benchmark::benchmark_main)
  target_compile_definitions(${name} PRIVATE TL_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
  add_test(NAME bench.${name} COMMAND ${name} --benchmark_min_time=0)
  set_tests_properties(bench.${name} PROPERTIES LABELS bench)
endfunction()
