# Run by the build: writes the pages of the checks (PAGES) as entries of an
# array of {name, text} into OUTPUT.
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
  # Compilers need not take a literal of more than 64 KiB; a raw string has no
  # escapes, so pages can hold anything but its end.
  string(APPEND content
    "    {\"${name}\",\n     R\"libtorch_tidy(${text})libtorch_tidy\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "${content}")
