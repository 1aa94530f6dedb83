# Finds MLIR 22 and sets up the little that an out-of-tree compiler needs.
find_package(MLIR 22.1 REQUIRED CONFIG PATHS /usr/lib/llvm-22/lib/cmake/mlir)
# LLVM's own modules for projects like this one also decide where things are installed, so what is needed of them is here.

# kiln_tablegen(DEFINITIONS OUTPUT arguments of mlir-tblgen...): generates a file, which is added to the list `generated`.
function(kiln_tablegen definitions output)
  set(file ${CMAKE_CURRENT_BINARY_DIR}/${output})
  add_custom_command(OUTPUT ${file}
    COMMAND mlir-tblgen ${ARGN} -I ${CMAKE_CURRENT_SOURCE_DIR} -I ${PROJECT_SOURCE_DIR}/include -I ${MLIR_INCLUDE_DIRS}
      ${CMAKE_CURRENT_SOURCE_DIR}/${definitions} --write-if-changed -o ${file} -d ${file}.d
    DEPENDS mlir-tblgen ${CMAKE_CURRENT_SOURCE_DIR}/${definitions} DEPFILE ${file}.d
    COMMENT "Generating ${output}" VERBATIM)
  set(generated ${generated} ${file} PARENT_SCOPE)
endfunction()

include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
include_directories(SYSTEM ${PROJECT_BINARY_DIR}/include)  # generated code
# `kiln_mlir` is MLIR, LLVM and LLVM's linker. What is installed contains them, so that it runs where they are not; all
# else links the shared libraries, which is quick. Never both in one process: a second MLIR breaks TypeIDs silently.
file(GLOB mlir_archives ${LLVM_LIBRARY_DIR}/libMLIR*.a)
file(GLOB llvm_archives ${LLVM_LIBRARY_DIR}/libLLVM*.a)
set(lld_archives ${LLVM_LIBRARY_DIR}/liblldELF.a ${LLVM_LIBRARY_DIR}/liblldCommon.a)
find_library(KILN_ZSTD_ARCHIVE NAMES libzstd.a REQUIRED)
find_library(KILN_ZLIB_ARCHIVE NAMES libz.a REQUIRED)
add_library(kiln_mlir_archives INTERFACE)
target_link_libraries(kiln_mlir_archives INTERFACE -Wl,--start-group ${mlir_archives} ${lld_archives} ${llvm_archives}
  -Wl,--end-group ${KILN_ZSTD_ARCHIVE} ${KILN_ZLIB_ARCHIVE} Threads::Threads ${CMAKE_DL_LIBS} m)
add_library(kiln_mlir_shared INTERFACE)
target_link_libraries(kiln_mlir_shared INTERFACE ${lld_archives} ${KILN_ZSTD_ARCHIVE} ${KILN_ZLIB_ARCHIVE} MLIR LLVM)
add_library(kiln_mlir INTERFACE)
target_link_libraries(kiln_mlir INTERFACE
  $<IF:$<BOOL:$<TARGET_PROPERTY:KILN_INSTALLED>>,kiln_mlir_archives,kiln_mlir_shared>)

# The headers that nearly every compiler unit needs, parsed once.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  add_compile_options(-fpch-preprocess)  # lets ccache cache units that use them
endif()
add_library(kiln_mlir_pch OBJECT ${PROJECT_SOURCE_DIR}/cmake/pch.cpp)
add_dependencies(kiln_mlir_pch KilnKilnIncGen KilnTileIncGen)
set_target_properties(kiln_mlir_pch PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)  # as in lib/
target_precompile_headers(kiln_mlir_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/pch.h)

# kiln_add_library(NAME sources... DEPENDS tablegen targets... LINK libraries...)
function(kiln_add_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_precompile_headers(${name} REUSE_FROM kiln_mlir_pch)
  target_link_libraries(${name} PUBLIC ${ARG_LINK} kiln_mlir)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()
