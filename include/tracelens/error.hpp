// error.hpp: the one exception TraceLens throws when a run cannot go on. Implemented here.
//   throw Error{"rank0.json.gz", "byte 17: expected '{' or '[', found '<'"};
// The message is one sentence for a person: where, what, and what was expected.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace tracelens {

class Error : public std::runtime_error {
 public:
  // `where` is a file, a flag or a table: the thing the user has to look at.
  Error(std::string_view where, std::string_view what)
      : std::runtime_error{std::string{where} + ": " + std::string{what}} {}
};

}  // namespace tracelens
