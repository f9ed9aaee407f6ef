#include <tracelens/gpu.hpp>

#include <tracelens/error.hpp>

#include <tracelens/files.hpp>

namespace tracelens {

std::string device_name(const Trace& trace) {
  const Value* const devices = trace.metadata("deviceProperties");
  if (devices == nullptr || devices->items().empty()) return {};
  const Value* const name = devices->items().front().find("name");
  return name == nullptr ? std::string{} : name->as_text();
}

std::string known_gpu_names() {
  std::string names;
  for (const Gpu& gpu : known_gpus()) names.append(names.empty() ? "" : ", ").append(gpu.name);
  return names;
}

std::optional<Gpu> chosen_gpu(const GpuChoice& choice, const Trace* trace) {
  if (!choice.file.empty()) {
    Gpu gpu = read_gpu(read_text_file(choice.file), choice.file);
    if (gpu.name.empty()) gpu.name = choice.file;
    return gpu;
  }
  std::string name = choice.name;
  if (name.empty() && trace != nullptr) name = device_name(*trace);
  if (name.empty()) return std::nullopt;
  if (const Gpu* const gpu = find_gpu(name)) return *gpu;
  if (choice.name.empty()) return std::nullopt;
  throw Error{name, "not a GPU whose figures are known; known are " + known_gpu_names()};
}

}  // namespace tracelens
