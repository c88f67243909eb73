# The plugins for other versions of clang-tidy: the same sources with the headers
# of that version, LibtorchTidyModule-16.so and so on. A plugin links nothing, so
# headers are all it takes.

function(add_plugin_for N LLVM_CONFIG)
  execute_process(COMMAND "${LLVM_CONFIG}" --includedir
    OUTPUT_VARIABLE headers OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  execute_process(COMMAND "${LLVM_CONFIG}" --has-rtti
    OUTPUT_VARIABLE has_rtti OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  libtorch_tidy_add_options(libtorch_tidy_options_${N} ${N} "${has_rtti}" "${headers}")
  target_compile_options(libtorch_tidy_options_${N} INTERFACE ${LIBTORCH_TIDY_PLUGIN_FLAGS})
  set(objects)
  foreach(layer IN LISTS LIBTORCH_TIDY_CHECK_LAYERS)
    get_target_property(sources ${layer} SOURCES)
    get_target_property(folder ${layer} SOURCE_DIR)
    list(TRANSFORM sources PREPEND "${folder}/" REGEX "^[^/]")
    add_library(${layer}_${N} OBJECT ${sources})
    libtorch_tidy_group_sources(${layer}_${N})
    target_link_libraries(${layer}_${N} PUBLIC libtorch_tidy_options_${N})
    if(layer STREQUAL libtorch_tidy_cpp)
      target_precompile_headers(${layer}_${N} PRIVATE
        <clang-tidy/ClangTidyCheck.h>
        <clang/AST/RecursiveASTVisitor.h>)
    else()
      target_precompile_headers(${layer}_${N} REUSE_FROM libtorch_tidy_cpp_${N})
    endif()
    list(APPEND objects $<TARGET_OBJECTS:${layer}_${N}>)
  endforeach()
  add_library(LibtorchTidyModule-${N} MODULE ${objects})
  target_link_libraries(LibtorchTidyModule-${N} PRIVATE libtorch_tidy_options_${N})
  set_target_properties(LibtorchTidyModule-${N} PROPERTIES
    PREFIX ""
    LIBRARY_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/lib")
  libtorch_tidy_installs(LibtorchTidyModule-${N} "$<TARGET_FILE:LibtorchTidyModule-${N}>")
  install(TARGETS LibtorchTidyModule-${N}
    LIBRARY DESTINATION "${LIBTORCH_TIDY_LIBDIR}/libtorch-tidy")
endfunction()

if(LIBTORCH_TIDY_PLUGINS STREQUAL "installed")
  set(wanted ${LIBTORCH_TIDY_LLVM_VERSIONS})
else()
  set(wanted ${LIBTORCH_TIDY_PLUGINS})
endif()
set(LIBTORCH_TIDY_PLUGIN_VERSIONS)
set(LIBTORCH_TIDY_PLUGIN_RELEASES)
foreach(N IN LISTS wanted)
  if(NOT N IN_LIST LIBTORCH_TIDY_LLVM_VERSIONS)
    message(FATAL_ERROR "LIBTORCH_TIDY_PLUGINS names '${N}', which the checks are not for.")
  endif()
  if(N EQUAL LLVM_VERSION_MAJOR)
    continue()
  endif()
  find_installed_llvm(${N} llvm_config)
  if(llvm_config)
    add_plugin_for(${N} "${llvm_config}")
    execute_process(COMMAND "${llvm_config}" --version
      OUTPUT_VARIABLE release OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX MATCH "^[0-9]+\\.[0-9]+" release "${release}")
    list(APPEND LIBTORCH_TIDY_PLUGIN_VERSIONS ${N})
    list(APPEND LIBTORCH_TIDY_PLUGIN_RELEASES ${release})
  elseif(NOT LIBTORCH_TIDY_PLUGINS STREQUAL "installed")
    message(FATAL_ERROR "LIBTORCH_TIDY_PLUGINS names ${N}: install llvm-${N}-dev and "
      "libclang-${N}-dev.")
  endif()
endforeach()
# For the tests and the packages; the second with the minor version: "16.0".
set(LIBTORCH_TIDY_PLUGIN_VERSIONS ${LIBTORCH_TIDY_PLUGIN_VERSIONS} PARENT_SCOPE)
set(LIBTORCH_TIDY_PLUGIN_RELEASES ${LIBTORCH_TIDY_PLUGIN_RELEASES} PARENT_SCOPE)
if(LIBTORCH_TIDY_PLUGIN_VERSIONS)
  message(STATUS "Plugins for clang-tidy ${LIBTORCH_TIDY_PLUGIN_VERSIONS}, too")
endif()
