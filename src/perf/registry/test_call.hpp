// test_call.hpp: calls written as they look in a trace, for the tests of this folder.
//   const TestCall call{"aten::mm", "[[8, 4], [4, 2]]", R"(["float", "float"])"};
//   EXPECT_EQ(call.work()->flops, 2 * 8 * 4 * 2);
#pragma once

#include <string>
#include <string_view>

#include "perf/registry/op_work.hpp"
#include "trace/json_value.hpp"

namespace tracelens::perf {

// JSON texts; an empty one means that the trace did not record it.
inline Signature signature_from_json(std::string_view dims, std::string_view types,
                                     std::string_view concrete, std::string_view strides) {
  const auto value = [](std::string_view text) { return parse_json_value(text).value_or(Value{}); };
  return {.name = {},
          .dims = value(dims),
          .types = value(types),
          .strides = value(strides),
          .concrete = value(concrete)};
}

class TestCall {
 public:
  TestCall(std::string_view name, std::string_view dims, std::string_view types,
           std::string_view concrete = "", std::string_view strides = "")
      : name_{name}, args_{signature_from_json(dims, types, concrete, strides)} {}

  [[nodiscard]] OrReason<Work> work(Edition edition = Edition::kReference,
                                    Pass pass = Pass::kForward) const {
    return built_in_work({.name = name_, .args = args_}, pass, edition);
  }
  [[nodiscard]] OrReason<Work> corrected(Pass pass = Pass::kForward) const {
    return work(Edition::kExtended, pass);
  }

 private:
  std::string name_;
  Signature args_;
};

}  // namespace tracelens::perf
