# Flags and helpers shared by every folder.
include(GNUInstallDirs)

# halfulp_flags(TARGET): what every compiled target of the project uses.
# No contraction and no fast-math: results must be the same bits on every machine.
function(halfulp_flags target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow -ffp-contract=off)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(${target} PRIVATE -Wno-restrict)  # false positives on std::string (GCC bug 105651)
  endif()
  if(HALFULP_WERROR)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(HALFULP_SANITIZE)
    target_compile_options(${target} PRIVATE -fsanitize=${HALFULP_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_link_options(${target} PRIVATE -fsanitize=${HALFULP_SANITIZE})
  endif()
endfunction()

# halfulp_light(TARGET): code that calls and compares more than it computes, built for the compiler's time. Its headers are
# compiled once: those named, or those of the target given with FROM.
function(halfulp_light target)
  cmake_parse_arguments(arg "" "FROM" "HEADERS" ${ARGN})
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  if(arg_FROM)
    target_precompile_headers(${target} REUSE_FROM ${arg_FROM})
  else()
    target_precompile_headers(${target} PRIVATE ${arg_HEADERS})
  endif()
endfunction()

# halfulp_test(NAME SOURCE LIBS... [LABEL exhaustive] [LIGHT]): one GoogleTest program, one CTest entry. Those of the label
# exhaustive are built by the target of that name alone.
# A run that executes no test fails (--gtest_fail_if_no_test_linked is not in GoogleTest 1.12).
function(halfulp_test name source)
  cmake_parse_arguments(arg "LIGHT" "LABEL;TIMEOUT" "LIBS;DEFINITIONS" ${ARGN})
  add_executable(${name} ${source})
  halfulp_flags(${name})
  if(arg_LIGHT)
    halfulp_light(${name} FROM halfulp_test_headers)
  endif()
  target_link_libraries(${name} PRIVATE ${arg_LIBS} GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE ${arg_DEFINITIONS} HALFULP_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${name})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 600)
  endif()
  set_tests_properties(${name} PROPERTIES TIMEOUT ${arg_TIMEOUT}
    FAIL_REGULAR_EXPRESSION "Running 0 tests" SKIP_REGULAR_EXPRESSION "halfulp: all tests of this program were skipped")
  if(arg_LABEL)
    set_tests_properties(${name} PROPERTIES LABELS ${arg_LABEL})
    if(arg_LABEL STREQUAL "exhaustive")
      set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
      add_dependencies(exhaustive ${name})
    endif()
  endif()
endfunction()
