# Every library that libtracelens leans on, all packaged by Debian 12; `./tracelens` installs them.
# Without include_guard(): the installed TraceLensConfig.cmake includes this file as well, for those
# who link the archive, and sets TL_FIND_MODE to QUIET.
if(NOT TL_FIND_MODE)
  set(TL_FIND_MODE REQUIRED)
endif()
find_package(Threads ${TL_FIND_MODE})
find_package(PkgConfig ${TL_FIND_MODE})
find_package(fmt ${TL_FIND_MODE})
find_package(ZLIB ${TL_FIND_MODE})
find_package(EXPAT ${TL_FIND_MODE})
find_package(Protobuf ${TL_FIND_MODE})
pkg_check_modules(ISAL ${TL_FIND_MODE} IMPORTED_TARGET libisal)
pkg_check_modules(ZSTD ${TL_FIND_MODE} IMPORTED_TARGET libzstd)
pkg_check_modules(RE2 ${TL_FIND_MODE} IMPORTED_TARGET re2)
pkg_check_modules(SQLITE ${TL_FIND_MODE} IMPORTED_TARGET sqlite3>=3.38)
