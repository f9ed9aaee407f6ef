// schema.hpp: operators of PyTorch as PyTorch prints them.
//   parse_schema("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracelens {

struct SchemaArgument {
  std::string type;  // without marks of aliases: "Tensor", "int[2]", "Scalar?"
  std::string name;
  bool has_default = false, keyword_only = false;
};

struct Schema {
  std::string op;  // without the overload: "aten::add"
  std::vector<SchemaArgument> arguments;
};

// Nothing when the line is no schema.
[[nodiscard]] std::optional<Schema> parse_schema(std::string_view line);

}  // namespace tracelens
