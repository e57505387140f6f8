# Build options, language level, warnings.
option(SM89_BUILD_SERVICE "Build the daemon, the worker and the client (needs gRPC)" ON)
option(SM89_BUILD_TESTS "Build the tests" ON)
option(SM89_BUILD_FUZZERS "Build the libFuzzer targets (clang only)" OFF)
option(SM89_WERROR "Treat warnings as errors" ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
# Every program lands in one folder: the daemon finds its worker beside itself.
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/bin")

find_program(SM89_CCACHE ccache)
if(SM89_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${SM89_CCACHE}")
endif()

# Interface target that carries the warnings; generated code does not link it.
add_library(sm89_warnings INTERFACE)
target_compile_options(sm89_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
  -Wno-missing-field-initializers
  # g++ 12 sees overlapping copies in "x" + std::to_string(n) at -O3 where there are none.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict> $<$<BOOL:${SM89_WERROR}>:-Werror>)
