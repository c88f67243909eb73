# Run by the build: reads the head of each page in PAGES, which is the one place
# for the facts of a check, and writes them into OUTPUT as CHECK(...) lines for
# Catalog.cpp. A page without a head is not that of a check.
cmake_minimum_required(VERSION 3.25)

function(fact KEY HEAD OUT)
  # The value is the rest of the line; of a block (">-"), the indented lines.
  if(NOT HEAD MATCHES "\n${KEY}: (>-)?([^\n]*(\n  [^\n]*)*)")
    message(FATAL_ERROR "${page}: its head says nothing of '${KEY}'")
  endif()
  string(REGEX REPLACE "\n +" " " value "${CMAKE_MATCH_2}")
  string(STRIP "${value}" value)
  set(${OUT} "${value}" PARENT_SCOPE)
endfunction()

set(content "")
foreach(page IN LISTS PAGES)
  get_filename_component(name "${page}" NAME_WE)
  file(READ "${page}" text)
  string(FIND "${text}" "\n---\n" end)
  if(NOT text MATCHES "^---\n" OR end EQUAL -1)
    continue()
  endif()
  string(SUBSTRING "${text}" 0 ${end} head)

  # libtorch-cat-in-loop is CatInLoopCheck.
  string(REGEX REPLACE "^libtorch-" "" words "${name}")
  string(REPLACE "-" ";" words "${words}")
  set(class "")
  foreach(word IN LISTS words)
    string(SUBSTRING "${word}" 0 1 first)
    string(SUBSTRING "${word}" 1 -1 rest)
    string(TOUPPER "${first}" first)
    string(APPEND class "${first}${rest}")
  endforeach()
  string(APPEND class "Check")
  if(NOT "${class}.cpp" IN_LIST CHECKS)
    message(FATAL_ERROR "${page}: there is no checks/*/${class}.cpp")
  endif()
  list(REMOVE_ITEM CHECKS "${class}.cpp")

  fact(levels "${head}" levels)
  fact(fix "${head}" fix)
  fact(tags "${head}" tags)
  fact(summary "${head}" summary)
  fact(why "${head}" why)
  if(NOT levels MATCHES "^[0-2](, [0-2])*$")
    message(FATAL_ERROR "${page}: levels are 0, 1 or 2, the strongest first")
  endif()
  if(NOT fix MATCHES "^(none|sometimes)$")
    message(FATAL_ERROR "${page}: fix is 'none' or 'sometimes'")
  endif()
  string(SUBSTRING "${levels}" 0 1 level)
  string(REPLACE ", " "\", \"" tags "${tags}")
  string(APPEND content
    "CHECK(${class}, \"${name}\", ${level}, ${fix},\n"
    "      R\"libtorch_tidy(${summary})libtorch_tidy\",\n"
    "      R\"libtorch_tidy(${why})libtorch_tidy\", \"${tags}\")\n")
endforeach()
foreach(check IN LISTS CHECKS)
  message(FATAL_ERROR "checks/${check} has no page with a head in docs/checks; "
    "scripts/new-check makes both")
endforeach()
file(WRITE "${OUTPUT}" "${content}")
