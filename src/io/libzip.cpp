#include "io/libzip.hpp"

#include <dlfcn.h>

#include <tracelens/error.hpp>

namespace tracelens::io {
namespace {

class Loader {
 public:
  explicit Loader(const std::string& archive) : archive_{archive} {
    if (library_ == nullptr) fail();
  }

  template <class Function>
  void find(const char* name, Function*& function) const {
    function = reinterpret_cast<Function*>(::dlsym(library_, name));
    if (function == nullptr) fail();
  }

 private:
  [[noreturn]] void fail() const {
    throw Error{archive_,
                std::string{"is a zip archive, and libzip, which reads these, cannot be loaded: "} +
                    ::dlerror()};
  }

  const std::string& archive_;
  void* const library_ = ::dlopen(TL_LIBZIP, RTLD_NOW | RTLD_LOCAL);  // the one of zip.h
};

LibZip load(const std::string& archive) {
  const Loader loader{archive};
  LibZip zip{};
  loader.find("zip_discard", zip.discard);
  loader.find("zip_error_code_zip", zip.error_code_zip);
  loader.find("zip_error_fini", zip.error_fini);
  loader.find("zip_error_init", zip.error_init);
  loader.find("zip_error_strerror", zip.error_strerror);
  loader.find("zip_fclose", zip.fclose);
  loader.find("zip_file_get_error", zip.file_get_error);
  loader.find("zip_fopen_index", zip.fopen_index);
  loader.find("zip_fread", zip.fread);
  loader.find("zip_get_name", zip.get_name);
  loader.find("zip_get_num_entries", zip.get_num_entries);
  loader.find("zip_open_from_source", zip.open_from_source);
  loader.find("zip_source_buffer_create", zip.source_buffer_create);
  loader.find("zip_source_filep_create", zip.source_filep_create);
  loader.find("zip_source_free", zip.source_free);
  loader.find("zip_stat", zip.stat);
  loader.find("zip_stat_index", zip.stat_index);
  loader.find("zip_strerror", zip.strerror);
  return zip;
}

}  // namespace

const LibZip& libzip(const std::string& archive) {
  static const LibZip zip = load(archive);  // one that failed is tried again
  return zip;
}

}  // namespace tracelens::io
