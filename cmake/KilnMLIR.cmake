# Finds MLIR 22 and sets up the little that an out-of-tree compiler needs.
#
# Only the shared `MLIR` and `LLVM` targets are ever linked: adding a static MLIR* archive would load a
# second MLIR and break TypeIDs silently.
find_package(MLIR 22.1 REQUIRED CONFIG PATHS /usr/lib/llvm-22/lib/cmake/mlir)
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories(SYSTEM ${PROJECT_BINARY_DIR}/include)  # generated code
# The headers that nearly every compiler unit needs, parsed once.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options(-fpch-preprocess)  # lets ccache cache units that use them
endif()
add_library(kiln_mlir_pch OBJECT ${PROJECT_SOURCE_DIR}/cmake/pch.cpp)
add_dependencies(kiln_mlir_pch KilnKilnIncGen KilnTileIncGen)
target_precompile_headers(kiln_mlir_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/pch.h)

# kiln_add_library(NAME sources... DEPENDS tablegen targets... LINK libraries...)
function(kiln_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_precompile_headers(${name} REUSE_FROM kiln_mlir_pch)
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()
