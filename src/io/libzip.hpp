// libzip.hpp: libzip's functions, from the library as it is loaded when the first archive is met.
//   const LibZip& zip = libzip("run.zip");       // Error that names run.zip where libzip is not installed
//   const zip_int64_t members = zip.get_num_entries(archive, 0);
// Few traces are archives, and libzip brings libcrypto and libbz2 along: to load them was nearly half of what
// it takes the program to start, and 2 MB of its memory. (bench/run --small)
#pragma once

#include <zip.h>

#include <string>

namespace tracelens::io {

class LibZip {
  // What a name stands for in the library, as whatever function it is assigned to.
  struct Found {
    void* address;
    template <class Function>
    operator Function*() const {  // NOLINT(*-explicit-*)
      return reinterpret_cast<Function*>(address);
    }
  };

 public:
  explicit LibZip(const std::string& archive) : archive_{archive}, library_{load()} {}

 private:
  [[nodiscard]] void* load() const;
  [[nodiscard]] Found find(const char* name) const;
  [[noreturn]] void fail() const;

  std::string archive_;  // what errors are about
  void* library_;

 public:
  // As in zip.h, without `zip_`.
  decltype(&::zip_discard) discard = find("zip_discard");
  decltype(&::zip_error_code_zip) error_code_zip = find("zip_error_code_zip");
  decltype(&::zip_error_fini) error_fini = find("zip_error_fini");
  decltype(&::zip_error_init) error_init = find("zip_error_init");
  decltype(&::zip_error_strerror) error_strerror = find("zip_error_strerror");
  decltype(&::zip_fclose) fclose = find("zip_fclose");
  decltype(&::zip_file_get_error) file_get_error = find("zip_file_get_error");
  decltype(&::zip_fopen_index) fopen_index = find("zip_fopen_index");
  decltype(&::zip_fread) fread = find("zip_fread");
  decltype(&::zip_get_name) get_name = find("zip_get_name");
  decltype(&::zip_get_num_entries) get_num_entries = find("zip_get_num_entries");
  decltype(&::zip_open_from_source) open_from_source = find("zip_open_from_source");
  decltype(&::zip_source_buffer_create) source_buffer_create = find("zip_source_buffer_create");
  decltype(&::zip_source_filep_create) source_filep_create = find("zip_source_filep_create");
  decltype(&::zip_source_free) source_free = find("zip_source_free");
  decltype(&::zip_stat) stat = find("zip_stat");
  decltype(&::zip_stat_index) stat_index = find("zip_stat_index");
  decltype(&::zip_strerror) strerror = find("zip_strerror");
};

// It stays loaded. Throws Error about `archive`, which needs it.
[[nodiscard]] const LibZip& libzip(const std::string& archive);

}  // namespace tracelens::io
