// check.hpp: catches our own mistakes. Bad input is not one: that is tracelens::Error.
//   TL_CHECK(columns.size() == header.size());
// A failed check throws InternalError, which the command line turns into exit status 3. Checks
// stay in release builds: a wrong number in a report costs more than a comparison.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace tracelens {

class InternalError : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

namespace io {

[[noreturn]] inline void fail_check(std::string_view file, int line, std::string_view condition) {
  file.remove_prefix(file.rfind('/') + 1);  // npos + 1 is 0: no folder to cut off
  throw InternalError{std::string{file} + ":" + std::to_string(line) + ": expected " +
                      std::string{condition}};
}

}  // namespace io
}  // namespace tracelens

#define TL_CHECK(condition) \
  ((condition) ? void(0) : ::tracelens::io::fail_check(__FILE__, __LINE__, #condition))
