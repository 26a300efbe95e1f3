# knx_module(<name> DEPENDS <modules and libraries>): one library for one folder of src/, made of all its
# *.cc files; *_test.cc and *_prop_test.cc beside them become one test program, *_fuzz.cc one fuzz target each. What is
# under testing/ becomes knx_<name>_testing, which only tests are linked with; TEST_DEPENDS names those of others.
function(knx_module name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;TEST_DEPENDS" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cc)
  set(tests ${sources})
  set(fuzzers ${sources})
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_(test|fuzz|bench)\\.cc$")
  set(testing ${sources})
  list(FILTER testing INCLUDE REGEX "/testing/")
  list(FILTER sources EXCLUDE REGEX "/testing/")

  add_library(knx_${name} STATIC ${sources})
  target_include_directories(knx_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(knx_${name} PUBLIC ${ARG_DEPENDS})
  knx_compile_together(knx_${name})

  if(testing AND KNX_TESTS)
    add_library(knx_${name}_testing STATIC ${testing})
    target_link_libraries(knx_${name}_testing PUBLIC knx_${name} ${ARG_TEST_DEPENDS})
    list(PREPEND ARG_TEST_DEPENDS knx_${name}_testing)
  endif()
  if(tests AND KNX_TESTS)
    knx_test(${name} SOURCES ${tests} DEPENDS knx_${name} ${ARG_TEST_DEPENDS})
  endif()

  if(KNX_TESTS OR KNX_FUZZ)
    foreach(fuzzer ${fuzzers})
      get_filename_component(target ${fuzzer} NAME_WE)
      knx_fuzz_target(${target} ${fuzzer} knx_${name})
    endforeach()
  endif()
endfunction()

# knx_test(<name> SOURCES <files> DEPENDS <modules and libraries>): the test <name> and its program <name>_test.
function(knx_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name}_test ${ARG_SOURCES})
  target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${name}_test PRIVATE ${ARG_DEPENDS} GTest::gtest GTest::gmock_main rapidcheck)
  target_compile_definitions(${name}_test PRIVATE KNX_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  # Debian's rapidcheck headers do not survive our warnings. Tests are compiled more often than they run.
  target_compile_options(${name}_test PRIVATE -Wno-conversion -Wno-shadow -O0)
  knx_compile_together(${name}_test)
  add_test(NAME ${name} COMMAND ${name}_test --gtest_brief=1)
  # The same cases every time, so that a failure is the change's; `make test-random` tries others.
  set_tests_properties(${name} PROPERTIES ENVIRONMENT RC_PARAMS=seed=1)
endfunction()

# Most of the time of a compilation goes into these, which nearly every file needs; from cluster/ on also into the
# state that is built from them.
set(knx_library_headers <algorithm> <functional> <map> <memory> <optional> <span> <string> <string_view> <variant>
    <vector> <fmt/format.h> <absl/container/flat_hash_map.h>)
set(knx_below_cluster base k8s scenario net client)

# The core is compiled file by file: together, g++ runs out of what it allows itself to inline in one unit, and
# adding a pod takes a quarter more instructions.
set(knx_core_libraries knx_cluster knx_engine)

# Compiles headers once for all targets of one kind: the first one makes them, the others use its. The sources of a
# target are compiled several at a time, which halves the work; so names that are private to a file must differ
# within a folder.
function(knx_compile_together target)
  if(KNX_UNITY AND NOT target IN_LIST knx_core_libraries)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
  endif()
  string(REGEX REPLACE "^knx_|_test$" "" name ${target})
  set(headers ${knx_library_headers})
  if(name IN_LIST knx_below_cluster)
    set(first base)
  else()
    set(first cluster)
    list(APPEND headers ${PROJECT_SOURCE_DIR}/src/cluster/state.h)
  endif()
  if(target MATCHES "_test$")
    string(APPEND first _test)
    list(PREPEND headers <gtest/gtest.h> <gmock/gmock.h>)
  else()
    string(PREPEND first knx_)
  endif()
  if(target STREQUAL first)
    target_precompile_headers(${target} PRIVATE ${headers})
  else()
    target_precompile_headers(${target} REUSE_FROM ${first})
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -fpch-preprocess)  # for ccache
  endif()
endfunction()

# With clang and KNX_FUZZ the target explores by itself; without, it replays the committed corpus, so that every
# build of ours runs every reader on every input that was ever found interesting. An input that fails is kept in
# <build>/corpus; it belongs into tests/corpus once the reader is mended.
function(knx_fuzz_target target source library)
  set(corpus ${PROJECT_SOURCE_DIR}/tests/corpus/${target})
  if(KNX_FUZZ)
    set(found ${CMAKE_BINARY_DIR}/corpus/${target})
    add_executable(${target} ${source})
    target_compile_options(${target} PRIVATE -fsanitize=fuzzer)
    target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    add_test(NAME ${target} COMMAND ${target} -runs=20000 -max_total_time=10 -timeout=5
                                    -artifact_prefix=${found}- ${found} ${corpus})
    file(MAKE_DIRECTORY ${found})
  else()
    add_executable(${target} ${source} ${PROJECT_SOURCE_DIR}/tests/corpus/replay.cc)
    add_test(NAME ${target} COMMAND ${target} ${corpus})
  endif()
  target_link_libraries(${target} PRIVATE ${library})
  add_dependencies(fuzzers ${target})
endfunction()

# knx_program(<name> SOURCES <files> DEPENDS <modules and libraries>): a program somebody starts, put in KNX_BIN_DIR.
function(knx_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS})
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${KNX_BIN_DIR})
  knx_compile_together(${name})
  add_dependencies(programs ${name})
endfunction()

# A header must compile alone: `make lint` compiles each by itself, without what is precompiled for everybody.
function(knx_check_lone_headers)
  file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.h)
  set(sources)
  foreach(header ${headers})
    set(source ${CMAKE_CURRENT_BINARY_DIR}/lone_headers/${header}.cc)
    file(CONFIGURE OUTPUT ${source} CONTENT "#include \"@header@\"\n" @ONLY)
    list(APPEND sources ${source})
  endforeach()
  add_library(lone_headers OBJECT EXCLUDE_FROM_ALL ${sources})
  target_include_directories(lone_headers PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_options(lone_headers PRIVATE -O0 -g0)
endfunction()
