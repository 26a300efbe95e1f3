# Flags for all of our code. Decisions must not depend on the optimiser, so floating point stays strict.
add_compile_options(-Wall -Wextra -Wconversion -Wshadow -Werror -ffp-contract=off -fno-fast-math)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # clang counts signedness among conversions, g++ does not; we follow g++. And it blames us for what libstdc++'s
  # own std::stable_sort calls.
  add_compile_options(-Wno-sign-conversion -Wno-deprecated-declarations)
endif()
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1")

find_program(KNX_CCACHE ccache)
if(KNX_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${PROJECT_SOURCE_DIR}/scripts/compile.sh ${KNX_CCACHE})
endif()

find_program(KNX_MOLD mold)
if(KNX_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

if(KNX_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "KNX_FUZZ needs clang: use the preset fuzz")
  endif()
  # Every library tells the fuzzer which branches an input reaches, not only the fuzz target itself.
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

if(KNX_SANITIZE)
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O1 -g1")
  add_compile_options(-fsanitize=${KNX_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${KNX_SANITIZE})
  if(KNX_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=undefined)
  endif()
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ 12 reports false positives of these two under sanitizers.
    add_compile_options(-Wno-maybe-uninitialized -Wno-stringop-overflow)
  endif()
endif()
