# The bundle: an installation that needs nothing of LLVM on the machine, as a
# folder (target bundle-folder) and as an archive of it (target bundle). Its
# program has LLVM, Clang and C++'s library inside; Clang's own headers lie
# beside it, where it looks first.

# Sets OUT to the archives of these targets and of what they need. Shared
# libraries among that are left out; MISSING names what is not installed.
function(libtorch_tidy_archives OUT MISSING)
  set(todo ${ARGN})
  set(seen "")
  set(files "")
  set(missing "")
  while(todo)
    list(POP_FRONT todo name)
    if(name IN_LIST seen OR NOT TARGET "${name}")
      continue()
    endif()
    list(APPEND seen "${name}")
    get_target_property(type "${name}" TYPE)
    if(NOT type STREQUAL "STATIC_LIBRARY")
      continue()
    endif()
    get_target_property(file "${name}" LOCATION)
    if(NOT EXISTS "${file}")
      list(APPEND missing "${name}")
      continue()
    endif()
    list(APPEND files "${file}")
    get_target_property(needs "${name}" INTERFACE_LINK_LIBRARIES)
    if(needs)
      list(APPEND todo ${needs})
    endif()
  endwhile()
  set(${OUT} "${files}" PARENT_SCOPE)
  set(${MISSING} "${missing}" PARENT_SCOPE)
endfunction()

# Clang's libraries say of each other what they need, and of LLVM nothing but
# the shared library. Of the targets for code, a front end asks X86's alone, but
# for their names.
set(target_names ${LLVM_TARGETS_TO_BUILD})
list(TRANSFORM target_names REPLACE "(.+)" "LLVM\\1Info")
libtorch_tidy_archives(archives missing
  clangTidy clangTidyUtils clangTooling clangToolingInclusionsStdlib clangToolingRefactoring
  clangTransformer clangFrontendTool clangStaticAnalyzerFrontend
  clangStaticAnalyzerCheckers clangAnalysisFlowSensitiveModels clangFormat clangIndex
  clangAPINotes clangSupport
  LLVMAnalysis LLVMBitReader LLVMCore LLVMFrontendHLSL LLVMFrontendOpenMP LLVMIRReader
  LLVMMC LLVMOption LLVMProfileData LLVMSupport LLVMTargetParser LLVMWindowsDriver
  LLVMX86AsmParser LLVMX86Desc ${target_names})
foreach(name IN ITEMS z zstd)
  find_library(LIBTORCH_TIDY_STATIC_${name} "lib${name}.a")
  mark_as_advanced(LIBTORCH_TIDY_STATIC_${name})
  if(NOT LIBTORCH_TIDY_STATIC_${name})
    list(APPEND missing "lib${name}.a")
  endif()
endforeach()
find_program(LIBTORCH_TIDY_ZSTD zstd)
find_program(LIBTORCH_TIDY_STRIP NAMES "${CMAKE_STRIP}" strip)
mark_as_advanced(LIBTORCH_TIDY_ZSTD LIBTORCH_TIDY_STRIP)
if(missing)
  list(JOIN missing ", " missing)
  message(STATUS "There is no target 'bundle': not installed: ${missing}")
  return()
endif()

add_executable(libtorch-tidy-static EXCLUDE_FROM_ALL
  StaticLink.cpp $<TARGET_OBJECTS:libtorch-tidy> ${LIBTORCH_TIDY_CHECK_OBJECTS})
set_target_properties(libtorch-tidy-static PROPERTIES
  OUTPUT_NAME libtorch-tidy
  RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/static")
target_link_libraries(libtorch-tidy-static PRIVATE
  libtorch_tidy_options
  -Wl,--start-group ${archives} -Wl,--end-group
  "${LIBTORCH_TIDY_STATIC_z}" "${LIBTORCH_TIDY_STATIC_zstd}" ${CMAKE_DL_LIBS} m)
target_link_options(libtorch-tidy-static PRIVATE
  -static-libstdc++ -static-libgcc -pie -Wl,--gc-sections)
find_program(LIBTORCH_TIDY_LLD ld.lld)
mark_as_advanced(LIBTORCH_TIDY_LLD)
if(LIBTORCH_TIDY_LLD)
  target_link_options(libtorch-tidy-static PRIVATE -fuse-ld=lld -Wl,--icf=safe)
endif()

string(TOLOWER "${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR}" platform)
set(LIBTORCH_TIDY_BUNDLE "libtorch-tidy-${PROJECT_VERSION}-${platform}")
# Whose code the program contains, by the packages that it is taken from.
set(licences "")
foreach(package IN ITEMS "llvm-${LLVM_VERSION_MAJOR}-dev" zlib1g-dev libzstd-dev
    nlohmann-json3-dev libstdc++6)
  if(EXISTS "/usr/share/doc/${package}/copyright")
    list(APPEND licences "/usr/share/doc/${package}/copyright")
  endif()
endforeach()
set(make_bundle "${CMAKE_COMMAND}"
  "-DBUILD=${CMAKE_BINARY_DIR}"
  "-DBUNDLE=${CMAKE_BINARY_DIR}/${LIBTORCH_TIDY_BUNDLE}"
  "-DPROGRAM=$<TARGET_FILE:libtorch-tidy-static>"
  "-DRESOURCES=${LIBTORCH_TIDY_RESOURCE_DIR}"
  "-DLLVM_MAJOR=${LLVM_VERSION_MAJOR}"
  "-DLICENCES=${licences}"
  "-DSTRIP=${LIBTORCH_TIDY_STRIP}"
  "-DBINDIR=${CMAKE_INSTALL_BINDIR}"
  "-DDOCDIR=${CMAKE_INSTALL_DATADIR}/doc/libtorch-tidy")
add_custom_target(bundle-folder
  COMMAND ${make_bundle} -P "${CMAKE_CURRENT_SOURCE_DIR}/make_bundle.cmake"
  COMMENT "Making the folder ${LIBTORCH_TIDY_BUNDLE}"
  VERBATIM)
set_property(TARGET bundle-folder PROPERTY
  LIBTORCH_TIDY_FOLDER "${CMAKE_BINARY_DIR}/${LIBTORCH_TIDY_BUNDLE}")
add_custom_target(bundle
  COMMAND "${CMAKE_COMMAND}" "-DBUNDLE=${CMAKE_BINARY_DIR}/${LIBTORCH_TIDY_BUNDLE}"
          "-DZSTD=${LIBTORCH_TIDY_ZSTD}"
          -P "${CMAKE_CURRENT_SOURCE_DIR}/pack_bundle.cmake"
  COMMENT "Packing ${LIBTORCH_TIDY_BUNDLE}.tar.zst"
  VERBATIM)
add_dependencies(bundle bundle-folder)
# An installation installs all that the build makes.
add_dependencies(bundle-folder libtorch-tidy libtorch-tidy-static installable)
