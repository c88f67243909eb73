# Run by the target bundle: packs the folder BUNDLE, the same bytes for the same
# files, and writes the checksum beside it.
if(NOT ZSTD)
  message(FATAL_ERROR "the program 'zstd' packs the bundle, and is not installed")
endif()
cmake_path(GET BUNDLE PARENT_PATH folder)
cmake_path(GET BUNDLE FILENAME name)
execute_process(
  COMMAND tar --create --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner
          --mode=go=rX,u+rw -C "${folder}" "${name}"
  COMMAND "${ZSTD}" -19 -T0 --quiet --force -o "${BUNDLE}.tar.zst"
  COMMAND_ERROR_IS_FATAL ANY)
file(SHA256 "${BUNDLE}.tar.zst" sum)
file(WRITE "${BUNDLE}.tar.zst.sha256" "${sum}  ${name}.tar.zst\n")
file(SIZE "${BUNDLE}.tar.zst" size)
math(EXPR size "${size} / 1000000")
message(STATUS "${name}.tar.zst: ${size} MB, sha256 ${sum}")
