// names.hpp: what a script calls the ops of a trace.
//   ScriptNames names{kernel_names};
//   names.of("aten::mm");              // "aten::mm"
//   names.of("AcmeRouterFunction");    // "custom_1": the name of somebody's class
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace tracelens {

class ScriptNames {
 public:
  explicit ScriptNames(bool kernel_names) : kernel_names_{kernel_names} {}

  // Operators, nodes of autograd that PyTorch makes and kernels of torch.compile keep their names,
  // the last unless names of kernels stay behind. Anything else is code of the model.
  [[nodiscard]] std::string of(std::string_view op);
  // The same for the file of a kernel of torch.compile.
  [[nodiscard]] std::string of_file(std::string_view name) const;

 private:
  bool kernel_names_;
  std::map<std::string, std::string, std::less<>> custom_;
};

// Whether some script calls the op so.
[[nodiscard]] bool may_be_called(std::string_view op, std::string_view in_script);

}  // namespace tracelens
