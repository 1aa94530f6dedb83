# Writes a header with a hash of the compiler's sources, if it has changed. Code that a changed compiler made
# before must not be taken from a cache.
#   cmake -DROOT=<source folder> -DHEADER=<file> -P CompilerId.cmake
file(GLOB_RECURSE sources LIST_DIRECTORIES false
  ${ROOT}/lib/*.cpp ${ROOT}/lib/*.h ${ROOT}/device/cuda/*.cuh ${ROOT}/include/kiln/*.h ${ROOT}/include/kiln/*.td
  ${ROOT}/cmake/*.py)
list(SORT sources)
set(hashes "")
foreach(source IN LISTS sources)
  file(SHA256 ${source} hash)
  file(RELATIVE_PATH name ${ROOT} ${source})
  string(APPEND hashes "${name} ${hash}\n")
endforeach()
string(SHA256 id "${hashes}")
string(SUBSTRING ${id} 0 16 id)
set(text "#define KILN_COMPILER_ID \"${id}\"\n")
set(old "")
if(EXISTS ${HEADER})
  file(READ ${HEADER} old)
endif()
if(NOT old STREQUAL text)
  file(WRITE ${HEADER} ${text})
endif()
