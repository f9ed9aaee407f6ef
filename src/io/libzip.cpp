#include "io/libzip.hpp"

#include <dlfcn.h>

#include <tracelens/error.hpp>

namespace tracelens::io {

void* LibZip::load() const {
  void* const library = ::dlopen(TL_LIBZIP, RTLD_NOW | RTLD_LOCAL);  // the one of zip.h
  if (library == nullptr) fail();
  return library;
}

LibZip::Found LibZip::find(const char* name) const {
  void* const address = ::dlsym(library_, name);
  if (address == nullptr) fail();
  return {address};
}

void LibZip::fail() const {
  const char* const why = ::dlerror();
  throw Error{archive_,
              std::string{"is a zip archive, and libzip, which reads these, cannot be loaded: "} +
                  (why == nullptr ? "a function is missing" : why)};
}

const LibZip& libzip(const std::string& archive) {
  static const LibZip zip{archive};  // one that failed is tried again
  return zip;
}

}  // namespace tracelens::io
