# Strict for developers, harmless for packagers: warnings are errors only where SABATH_WERROR is on.
add_library(sabath_warnings INTERFACE)
target_compile_options(sabath_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wold-style-cast -Woverloaded-virtual)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  if(CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    target_compile_options(sabath_warnings INTERFACE -Wno-restrict)  # false on "text" + string at -O2: GCC PR 105329
  endif()
  # False, with the optimiser: GCC 12 on the way out of an aggregate's initialisation that throws, GCC 14 for an optional that
  # has a value. Clang keeps the check.
  target_compile_options(sabath_warnings INTERFACE -Wno-maybe-uninitialized)
endif()
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # A source that a unity batch includes is taken for a header.
  target_compile_options(sabath_warnings INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()
if(SABATH_WERROR)
  target_compile_options(sabath_warnings INTERFACE -Werror)
endif()
if(SABATH_SANITIZE)
  target_link_options(sabath_warnings INTERFACE -fsanitize=address,undefined)
endif()
