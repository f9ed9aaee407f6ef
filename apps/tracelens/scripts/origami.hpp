// origami.hpp: the flags for Origami, an external simulator in Python that is not part of this
// program: scripts take them, and say so.
//   origami_.declare(flags);
//   origami_.warn(console);
#pragma once

#include <string>
#include <vector>

#include "console.hpp"
#include "flags.hpp"

namespace tracelens::app {

class OrigamiFlags {
 public:
  void declare(Flags& flags) {
    for (const char* name :
         {"--enable-origami", "--enable-origami-gemm", "--enable-origami-sdpa-tile"})
      flags.add_action(
          name, [this, name] { given_.emplace_back(name); },
          "Accepted; the external simulator is not supported");
  }
  void warn(const Console& console) const {
    for (const std::string& name : given_)
      console.warn(name + ": the external simulator is not supported; ignored");
  }

 private:
  std::vector<std::string> given_;
};

}  // namespace tracelens::app
