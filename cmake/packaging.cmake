# What `cmake --install` puts where, the CMake package for find_package(TraceLens), and the .debs.
# The parts: `runtime` (the program, for everyone), `lib` (the shared library), `dev` (what one builds
# on); where Open MPI is, `mpi` (the module with which many processes share the work); where Python is,
# `python` (the package `tracelens`) and `compat` (`TraceLens`, the stand-in for the Python TraceLens).
include_guard()
include(CMakePackageConfigHelpers)

# Loaded when an archive is met, so that nothing in the programs tells packagers of it: libzip.so.4 is in libzip4.
string(REPLACE ".so." "" zip_package ${TL_LIBZIP})

set(CPACK_PACKAGE_CONTACT "TraceLens contributors <tracelens@localhost>")

# --- runtime: the program, its completions, the demo trace, the documents -------------------------
install(TARGETS tracelens RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
install(FILES tests/data/h200_gpt_train_amp.json.gz RENAME demo.json.gz
        DESTINATION ${CMAKE_INSTALL_DATADIR}/tracelens COMPONENT runtime)
install(DIRECTORY data/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tracelens COMPONENT runtime)
set(doc_dir ${CMAKE_INSTALL_DATADIR}/doc)
install(FILES README.md CHANGELOG.md DESTINATION ${doc_dir}/tracelens COMPONENT runtime)
install(DIRECTORY docs DESTINATION ${doc_dir}/tracelens COMPONENT runtime)
install(FILES LICENSE RENAME copyright DESTINATION ${doc_dir}/tracelens COMPONENT runtime)
install(FILES ${PROJECT_BINARY_DIR}/completions/tracelens.bash RENAME tracelens
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT runtime)
install(FILES ${PROJECT_BINARY_DIR}/completions/_tracelens
        DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT runtime)

# --- dev: libtracelens as archive and shared library, the public headers, TraceLensConfig.cmake ---
set(cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/TraceLens)
# Two exports: who links the shared library needs nothing of what the archive leans on.
install(TARGETS tl_static EXPORT TraceLensStaticTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT dev)
install(TARGETS tl_shared EXPORT TraceLensSharedTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT lib NAMELINK_COMPONENT dev)
foreach(kind Static Shared)
  install(EXPORT TraceLens${kind}Targets NAMESPACE TraceLens:: DESTINATION ${cmake_dir}
          COMPONENT dev)
endforeach()
get_target_property(TL_STATIC_LIBS tl_static LINK_LIBRARIES)
list(FILTER TL_STATIC_LIBS INCLUDE REGEX "::")  # those that have to be found; the others every linker knows
list(JOIN TL_STATIC_LIBS " " TL_STATIC_LIBS)
install(DIRECTORY include/tracelens ${PROJECT_BINARY_DIR}/generated/tracelens
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT dev FILES_MATCHING PATTERN "*.hpp")
configure_package_config_file(cmake/TraceLensConfig.cmake.in
  ${PROJECT_BINARY_DIR}/TraceLensConfig.cmake INSTALL_DESTINATION ${cmake_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/TraceLensConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/TraceLensConfig.cmake
              ${PROJECT_BINARY_DIR}/TraceLensConfigVersion.cmake cmake/dependencies.cmake
        DESTINATION ${cmake_dir} COMPONENT dev)

install(DIRECTORY examples/cpp DESTINATION ${doc_dir}/libtracelens-dev/examples COMPONENT dev)
install(FILES LICENSE RENAME copyright DESTINATION ${doc_dir}/libtracelens-dev COMPONENT dev)
set(lib_package libtracelens${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
install(FILES LICENSE RENAME copyright DESTINATION ${doc_dir}/${lib_package} COMPONENT lib)

# --- mpi: the module; apps/tracelens says where the program looks for it --------------------------
set(components runtime lib dev)
if(TARGET tracelens_mpi)
  list(APPEND components mpi)
  install(TARGETS tracelens_mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/tracelens COMPONENT mpi)
  install(FILES LICENSE RENAME copyright DESTINATION ${doc_dir}/tracelens-mpi COMPONENT mpi)
endif()

# --- python, compat: the packages. Wheels are made from the same list; see python/tracelens_build.py -
if(TL_WITH_PYTHON)
  list(APPEND components python compat)
  set(python_dir lib/python3/dist-packages)  # Debian's, of packages; where else is pip's to say
  # install_python(COMPONENT PROJECT PACKAGE DEB SCRIPT...): the files, and what pip and
  # importlib.metadata read.
  function(install_python component project package deb)
    install(DIRECTORY ${package} DESTINATION ${python_dir} COMPONENT ${component} EXCLUDE_FROM_ALL
            PATTERN __pycache__ EXCLUDE PATTERN "_native*.so" EXCLUDE)
    install(CODE "execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND \"${Python3_EXECUTABLE}\"
      \"${PROJECT_SOURCE_DIR}/python/tracelens_build.py\" metadata \"${PROJECT_SOURCE_DIR}/${project}\"
      \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${python_dir}\")" COMPONENT ${component} EXCLUDE_FROM_ALL)
    install(FILES LICENSE RENAME copyright DESTINATION ${doc_dir}/${deb} COMPONENT ${component}
            EXCLUDE_FROM_ALL)
    set(control ${PROJECT_BINARY_DIR}/debian/${component})
    string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
    configure_file(cmake/debian/changelog.in ${control}/changelog @ONLY)
    execute_process(COMMAND gzip -9nf ${control}/changelog COMMAND_ERROR_IS_FATAL ANY)
    install(FILES ${control}/changelog.gz DESTINATION ${doc_dir}/${deb} COMPONENT ${component}
            EXCLUDE_FROM_ALL)
    # Byte code is made where the package is installed and goes with it.
    foreach(script ${ARGN})
      configure_file(cmake/debian/${script}.in ${control}/${script} @ONLY)
      list(APPEND scripts ${control}/${script})
    endforeach()
    string(TOUPPER ${component} part)
    set(CPACK_DEBIAN_${part}_PACKAGE_CONTROL_EXTRA ${scripts} PARENT_SCOPE)
    set(CPACK_DEBIAN_${part}_PACKAGE_CONTROL_STRICT_PERMISSION ON PARENT_SCOPE)
    set(CPACK_DEBIAN_${part}_PACKAGE_NAME ${deb} PARENT_SCOPE)
    set(CPACK_DEBIAN_${part}_PACKAGE_SECTION python PARENT_SCOPE)
  endfunction()
  install_python(python . python/tracelens python3-tracelens postinst prerm)
  install_python(compat python/compat python/compat/TraceLens python3-tracelens-compat
                 preinst postinst prerm)
  install(TARGETS tl_native LIBRARY DESTINATION ${python_dir}/tracelens COMPONENT python EXCLUDE_FROM_ALL)
  install(FILES tests/data/h200_gpt_train_amp.json.gz RENAME demo.json.gz
          DESTINATION ${python_dir}/tracelens COMPONENT python EXCLUDE_FROM_ALL)
  # `python -m tracelens` is the program: a wheel brings it along, Debian has it in a package.
  install(TARGETS tracelens RUNTIME DESTINATION ${python_dir}/tracelens/bin COMPONENT python_program
          EXCLUDE_FROM_ALL)

  set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
  math(EXPR next "${Python3_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS
      "python3 (>= 3.${Python3_VERSION_MINOR}), python3 (<< 3.${next}), python3-numpy, ${zip_package}")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS "python3-pandas, tracelens (= ${PROJECT_VERSION})")
  set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-distributed, python3-matplotlib")
  set(CPACK_COMPONENT_PYTHON_DESCRIPTION
      "TraceLens as a Python module:\nreads profiler traces on all cores, with tables for NumPy, pandas and Arrow.")
  set(CPACK_DEBIAN_COMPAT_PACKAGE_ARCHITECTURE all)
  set(CPACK_DEBIAN_COMPAT_PACKAGE_DEPENDS
      "python3, python3-tracelens (= ${PROJECT_VERSION}), python3-pandas")
  set(CPACK_COMPONENT_COMPAT_DESCRIPTION
      "Stand-in for the Python TraceLens:\nits names on the native core, so that programs written for it run unmodified.")
endif()

# --- the .debs: tracelens, libtracelens0.1, libtracelens-dev, tracelens-mpi and those of Python ------
# The archive needs the same libraries the build does, from the same list; the shared one brings its
# own.
file(STRINGS tools/debian-packages.txt dev_packages REGEX "^(lib.*|zlib1g)-dev$|^pkg-config$")
list(FILTER dev_packages EXCLUDE REGEX "gtest|gmock|benchmark|clang|openmpi|cli11|edit|simdjson|xxhash|zip")
list(JOIN dev_packages ", " dev_recommends)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME tracelens)
set(CPACK_PACKAGE_VENDOR "TraceLens contributors")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "analyser of PyTorch profiler traces")
set(CPACK_COMPONENTS_ALL ${components})
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME tracelens)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS ${zip_package})
if(TL_PACKS_RELOCATIONS)
  string(APPEND CPACK_DEBIAN_RUNTIME_PACKAGE_DEPENDS ", libc6 (>= 2.36)")  # the first to read them
endif()
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION
    "Says where the time of a training or serving job went:\nGPU timeline, kernels, operators and the module tree, from its profiler trace.")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME libtracelens-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${lib_package} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS "${dev_recommends}")
set(CPACK_COMPONENT_DEV_DESCRIPTION
    "Headers and libraries of TraceLens:\nto read profiler traces and make its tables from C++.")
set(CPACK_DEBIAN_LIB_PACKAGE_NAME ${lib_package})
set(CPACK_DEBIAN_LIB_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIB_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LIB_PACKAGE_DEPENDS ${zip_package})
set(CPACK_COMPONENT_LIB_DESCRIPTION
    "Shared library of TraceLens:\nreads profiler traces and makes their tables.")
set(CPACK_DEBIAN_MPI_PACKAGE_NAME tracelens-mpi)
set(CPACK_DEBIAN_MPI_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_MPI_PACKAGE_SHLIBDEPS ON)
# The module and the program pass objects to each other: they are of one build.
set(CPACK_DEBIAN_MPI_PACKAGE_DEPENDS "tracelens (= ${PROJECT_VERSION}), openmpi-bin")
set(CPACK_COMPONENT_MPI_DESCRIPTION
    "Lets many processes make one report of TraceLens:\nmpirun -n 64 tracelens collectives reads the traces on many machines.")
include(CPack)
