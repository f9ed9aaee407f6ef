# The build functions: tl_library (a folder of src/), tl_fuzzer and tl_bench.
include_guard()

# Publishes a folder as <build>/layers/<name>/<name>: a target that lists `name` in DEPS finds the
# folder's headers as "name/header.hpp" there, and every other target does not.
function(tl_publish name folder)
  set(link_dir ${PROJECT_BINARY_DIR}/layers/${name})
  file(MAKE_DIRECTORY ${link_dir})
  file(CREATE_LINK ${folder} ${link_dir}/${name} SYMBOLIC)
endfunction()

# tl_library(name [HOT] SOURCES ... DEPS ... [PROTOS ...] [LIBS ...] [PRIVATE_LIBS ...] [TESTS ...]
#            [TEST_DEPS ...])
# One static library per folder of src/. DEPS are the folders it may include: the layer rule, which
# tools/check_layers.py reads from here too. LIBS are outside libraries its headers show,
# PRIVATE_LIBS those only its sources use. PROTOS are compiled by protoc; x.proto is included as
# "x.pb.h", by this folder and its tests only. TESTS become one GoogleTest program, <name>_test.
# HOT folders see every byte or event of a trace and are optimised for speed alone (-O3); the others
# would only get larger, and the program's own size is memory too.
function(tl_library name)
  cmake_parse_arguments(ARG "HOT" "" "SOURCES;DEPS;PROTOS;LIBS;PRIVATE_LIBS;TESTS;TEST_DEPS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tl_library(${name}): unknown arguments: ${ARG_UNPARSED_ARGUMENTS}")
  endif()
  tl_publish(${name} ${CMAKE_CURRENT_SOURCE_DIR})
  add_library(tl_${name} STATIC ${ARG_SOURCES})
  target_include_directories(tl_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>
    $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/layers/${name}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_features(tl_${name} PUBLIC cxx_std_20)
  if(NOT ARG_HOT)
    target_compile_options(tl_${name} PRIVATE $<$<CONFIG:Release>:-O2>)
  endif()
  list(TRANSFORM ARG_DEPS PREPEND tl_ OUTPUT_VARIABLE deps)
  target_link_libraries(tl_${name} PUBLIC ${deps} ${ARG_LIBS}
                        PRIVATE $<BUILD_INTERFACE:tl_warnings> ${ARG_PRIVATE_LIBS})
  set_target_properties(tl_${name} PROPERTIES
    POSITION_INDEPENDENT_CODE ON
    OUTPUT_NAME tracelens_${name}
    EXPORT_NAME ${name})
  set_property(GLOBAL APPEND PROPERTY TL_LIBRARIES tl_${name})  # for packaging.cmake
  if(ARG_PROTOS)
    # A target of its own: the generated code does not meet our warnings.
    add_library(tl_${name}_protos OBJECT ${ARG_PROTOS})
    set(proto_dir ${CMAKE_CURRENT_BINARY_DIR}/protos)
    file(MAKE_DIRECTORY ${proto_dir})
    protobuf_generate(TARGET tl_${name}_protos LANGUAGE cpp PROTOC_OUT_DIR ${proto_dir})
    target_link_libraries(tl_${name}_protos PUBLIC protobuf::libprotobuf-lite)
    target_include_directories(tl_${name}_protos SYSTEM PUBLIC $<BUILD_INTERFACE:${proto_dir}>)
    set_target_properties(tl_${name}_protos PROPERTIES POSITION_INDEPENDENT_CODE ON)
    target_sources(tl_${name} PRIVATE $<TARGET_OBJECTS:tl_${name}_protos>)
    target_include_directories(tl_${name} SYSTEM PRIVATE ${proto_dir})
    target_link_libraries(tl_${name} PRIVATE protobuf::libprotobuf-lite)
    add_dependencies(tl_${name} tl_${name}_protos)
  endif()
  if(TRACELENS_DEV AND ARG_TESTS)
    list(TRANSFORM ARG_TEST_DEPS PREPEND tl_ OUTPUT_VARIABLE test_deps)
    add_executable(${name}_test ${ARG_TESTS})
    target_include_directories(${name}_test SYSTEM PRIVATE ${proto_dir})
    target_link_libraries(${name}_test PRIVATE tl_${name} ${test_deps} tl_warnings
                          ${ARG_PRIVATE_LIBS} GTest::gtest_main GTest::gmock)
    target_compile_definitions(${name}_test PRIVATE TL_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
    # Only what is tested has to be fast; compiling the tests takes a third less this way.
    target_compile_options(${name}_test PRIVATE -O0)
    if(TRACELENS_SANITIZE)
      # One process per folder: the leak check at the end of a process takes seconds on arm64.
      add_test(NAME ${name}.all COMMAND ${name}_test WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
      set_tests_properties(${name}.all PROPERTIES LABELS unit)
    else()
      # Named folder.Suite.Rule, so that `ctest -R ^readers` runs one folder.
      gtest_discover_tests(${name}_test TEST_PREFIX ${name}. WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
                           DISCOVERY_TIMEOUT 60 PROPERTIES LABELS unit)
    endif()
  endif()
endfunction()

# tl_fuzzer(name SOURCES ... [DEPS ...] [LIBS ...]): a libFuzzer target, and a test that replays its
# seed corpus once. Without libFuzzer the same file becomes that test.
function(tl_fuzzer name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LIBS" ${ARGN})
  list(TRANSFORM ARG_DEPS PREPEND tl_ OUTPUT_VARIABLE deps)
  set(corpus ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus/${name})
  if(TRACELENS_FUZZ)
    add_executable(${name} ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE -fsanitize=fuzzer)
    set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzzers)
    if(NOT TARGET fuzzers)
      add_custom_target(fuzzers)  # all of them, and of the libraries only what they need
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
  target_link_libraries(${name} PRIVATE ${deps} ${ARG_LIBS} tl_warnings)
  if(TRACELENS_DEV)
    add_test(NAME fuzz.${name} COMMAND ${replay})
    set_tests_properties(fuzz.${name} PROPERTIES LABELS fuzz)
  endif()
endfunction()

# tl_bench(name SOURCES ... [DEPS ...] [LIBS ...]): a Google Benchmark program for inner loops.
# A test runs each benchmark once, so that its own checks of the result are seen to hold.
function(tl_bench name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS;LIBS" ${ARGN})
  if(NOT TRACELENS_DEV)
    return()
  endif()
  list(TRANSFORM ARG_DEPS PREPEND tl_ OUTPUT_VARIABLE deps)
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE ${deps} ${ARG_LIBS} tl_warnings benchmark::benchmark_main)
  target_compile_definitions(${name} PRIVATE TL_TEST_DATA="${PROJECT_SOURCE_DIR}/tests/data")
  add_test(NAME bench.${name} COMMAND ${name} --benchmark_min_time=0)
  set_tests_properties(bench.${name} PROPERTIES LABELS bench)
endfunction()
