# Run by the build: makes C++ of text files, for #include.
#   PAGES: documentation of checks, as entries {name, text} of an array
#   TEXT:  one file, as a string literal that begins with a line end
# OUTPUT is the file to write. Compilers need not take a literal of more than
# 64 KiB; a raw string has no escapes, so files can hold anything but its end.
set(content "")
foreach(page IN LISTS PAGES)
  get_filename_component(name "${page}" NAME_WE)
  file(READ "${page}" text)
  # The head is for the catalog.
  string(FIND "${text}" "\n---\n\n" end)
  if(text MATCHES "^---\n" AND NOT end EQUAL -1)
    math(EXPR end "${end} + 6")
    string(SUBSTRING "${text}" ${end} -1 text)
  endif()
  # Terminals and SARIF viewers have no pictures.
  string(REGEX REPLACE "\n!\\[[^\n]*\n" "" text "${text}")
  string(APPEND content
    "    {\"${name}\",\n     R\"libtorch_tidy(${text})libtorch_tidy\"},\n")
endforeach()
if(TEXT)
  file(READ "${TEXT}" text)
  set(content "R\"libtorch_tidy(\n${text})libtorch_tidy\"\n")
endif()
file(WRITE "${OUTPUT}" "${content}")
