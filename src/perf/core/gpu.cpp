// gpu.cpp: see gpu.hpp.
#include <tracelens/gpu.hpp>

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <tracelens/error.hpp>
#include <tracelens/value.hpp>

#include "io/ascii.hpp"
#include "perf/core/gpu_files.hpp"
#include "trace/json_value.hpp"

namespace tracelens {
namespace {

// No GPU is a million times slower than those of today, or a million times faster; a figure beyond
// is a mistake, and would bend every roofline that is made with it.
constexpr double kLowest = 1e-6, kHighest = 1e9;  // GB, GB/s, TFLOP/s

// A figure is a number, or an object with the number and where it comes from.
double figure(const Value& given, std::string_view key, std::string_view where) {
  const Value* value = given.kind() == Value::Kind::kDict ? given.find("value") : &given;
  if (!value || !value->is_number() || !std::isfinite(value->as_real()) || value->as_real() <= 0)
    throw Error{where, fmt::format("{}: expected a positive number", key)};
  if (value->as_real() < kLowest || value->as_real() > kHighest)
    throw Error{where, fmt::format("{}: {} is not the figure of a GPU; expected {} to {}", key,
                                   value->as_real(), kLowest, kHighest)};
  return value->as_real();
}

std::optional<double> figure_if_any(const Value& gpu, std::string_view key,
                                    std::string_view where) {
  const Value* found = gpu.find(key);
  if (!found || found->is_null()) return std::nullopt;
  return figure(*found, key, where);
}

std::map<std::string, double> figures(const Value& gpu, std::string_view key,
                                      std::string_view where) {
  const Value* table = gpu.find(key);
  if (!table || table->is_null()) return {};
  if (table->kind() != Value::Kind::kDict)
    throw Error{where, fmt::format("{}: expected an object", key)};
  std::map<std::string, double> found;
  for (std::size_t i = 0; i < table->keys().size(); ++i)
    found[table->keys()[i]] = figure(table->items()[i], table->keys()[i], where);
  return found;
}

std::vector<std::string> lower_case_words(const Value& gpu, std::string_view key) {
  std::vector<std::string> words;
  if (const Value* list = gpu.find(key))
    for (const Value& word : list->items()) words.push_back(io::lower_case(word.as_text()));
  return words;
}

// Each file is read when its GPU is first asked for.
const Gpu& embedded_gpu(std::size_t index) {
  struct Known {
    std::once_flag is_read;
    Gpu gpu;
  };
  static std::vector<Known> all(perf::gpu_files().size());
  Known& known = all[index];
  const perf::GpuFile& file = perf::gpu_files()[index];
  std::call_once(known.is_read, [&] { known.gpu = read_gpu(file.text, file.name); });
  return known.gpu;
}

std::vector<Gpu> embedded_gpus() {
  std::vector<Gpu> gpus;
  for (std::size_t i = 0; i < perf::gpu_files().size(); ++i) gpus.push_back(embedded_gpu(i));
  return gpus;
}

bool is_letter_or_digit(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }

// Whether `name` is a part of `device` that no letter or digit continues: an A1000 is no A100, and a
// GH200 no H200. Both in lower case.
bool holds_name(std::string_view device, std::string_view name) {
  for (std::size_t at = device.find(name); at != device.npos; at = device.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    const bool continues = (at > 0 && is_letter_or_digit(device[at - 1])) ||
                           (end < device.size() && is_letter_or_digit(device[end]));
    if (!continues) return true;
  }
  return false;
}

// The longest of these names that is a part of `device`; 0: none is.
std::size_t longest_match(std::string_view names_by_line, std::string_view device) {
  std::size_t longest = 0;
  for (std::string_view rest = names_by_line; !rest.empty();) {
    const std::string_view name = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(name.size() + 1);
    if (name.size() > longest && holds_name(device, name)) longest = name.size();
  }
  return longest;
}

// How much of the name of `device` tells that it is this GPU; 0: it is another one.
std::size_t length_of_match(const perf::GpuFile& file, std::string_view device) {
  return longest_match(file.other_devices, device) > 0 ? 0
                                                       : longest_match(file.device_names, device);
}

}  // namespace

std::span<const Gpu> known_gpus() {
  static const std::vector<Gpu> kGpus = embedded_gpus();
  return kGpus;
}

const Gpu* find_gpu(std::string_view device) {
  const std::string wanted = io::lower_case(device), wanted_file = wanted + ".json";
  const std::span<const perf::GpuFile> files = perf::gpu_files();
  std::size_t best = 0, best_length = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (io::lower_case(files[i].name) == wanted_file) return &embedded_gpu(i);
    if (const std::size_t length = length_of_match(files[i], wanted); length > best_length) {
      best = i;
      best_length = length;
    }
  }
  return best_length == 0 ? nullptr : &embedded_gpu(best);
}

std::optional<double> link_gbps(std::string_view device, std::int64_t ranks) {
  const Gpu* const gpu = find_gpu(device);
  if (gpu == nullptr || !gpu->link.gbps || ranks < 2) return std::nullopt;
  const std::string name = io::lower_case(device);
  for (const std::string& board : gpu->link.not_on)
    if (name.find(board) != std::string::npos) return std::nullopt;
  if (!gpu->link.gbps_per_peer) return gpu->link.gbps;
  return std::min(*gpu->link.gbps, *gpu->link.gbps_per_peer * static_cast<double>(ranks - 1));
}

Gpu read_gpu(std::string_view text, std::string_view where) {
  const auto given = parse_json_value(text);
  if (!given || given->kind() != Value::Kind::kDict)
    throw Error{where, "expected a JSON object that describes a GPU"};
  Gpu gpu;
  if (const Value* name = given->find("name")) gpu.name = name->as_text();
  gpu.device_names = lower_case_words(*given, "device_names");
  gpu.memory_gb = figure_if_any(*given, "memory_gb", where);
  gpu.memory_gbps = figure_if_any(*given, "mem_bw_gbps", where);
  gpu.link = {.gbps = figure_if_any(*given, "link_gbps", where),
              .gbps_per_peer = figure_if_any(*given, "link_gbps_per_peer", where),
              .not_on = lower_case_words(*given, "link_not_on")};
  gpu.peak_tflops = figures(*given, "peak_tflops", where);
  gpu.achievable_tflops = figures(*given, "max_achievable_tflops", where);
  if (gpu.peak_tflops.empty()) gpu.peak_tflops = gpu.achievable_tflops;
  if (!gpu.memory_gbps && gpu.peak_tflops.empty())
    throw Error{where,
                "describes no GPU: it has neither mem_bw_gbps nor peak_tflops or "
                "max_achievable_tflops"};
  return gpu;
}

}  // namespace tracelens
