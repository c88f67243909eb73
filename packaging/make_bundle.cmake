# Run by the target bundle-folder: makes the folder BUNDLE of the installation
# of BUILD, with the static PROGRAM, Clang's own headers (below RESOURCES) and
# the licences of what the program contains.
file(REMOVE_RECURSE "${BUNDLE}")
execute_process(
  COMMAND "${CMAKE_COMMAND}" --install "${BUILD}" --prefix "${BUNDLE}" --strip
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
# COPY leaves a file alone that is of the same second.
file(REMOVE "${BUNDLE}/${BINDIR}/libtorch-tidy")
file(COPY "${PROGRAM}" DESTINATION "${BUNDLE}/${BINDIR}")
execute_process(COMMAND "${STRIP}" "${BUNDLE}/${BINDIR}/libtorch-tidy"
  COMMAND_ERROR_IS_FATAL ANY)
file(COPY "${RESOURCES}/include" DESTINATION "${BUNDLE}/lib/clang/${LLVM_MAJOR}")
foreach(file IN LISTS LICENCES)
  cmake_path(GET file PARENT_PATH package)
  cmake_path(GET package FILENAME package)
  file(COPY_FILE "${file}" "${BUNDLE}/${DOCDIR}/copyright-of-${package}")
endforeach()
