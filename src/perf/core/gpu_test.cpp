#include <tracelens/gpu.hpp>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <set>
#include <tracelens/error.hpp>

#include "perf/core/gpu_files.hpp"
#include "trace/json_value.hpp"

namespace tracelens::perf {
namespace {

std::string found(std::string_view device) {
  const Gpu* gpu = find_gpu(device);
  return gpu ? gpu->name : "";
}

TEST(Gpu, DeviceNamesOfTracesAreRecognised) {
  EXPECT_EQ(found("NVIDIA H200"), "H200");
  EXPECT_EQ(found("AMD Instinct MI300X OAM"), "MI300X");
  EXPECT_EQ(found("AMD Instinct MI250X / MI250"), "MI250X");
  EXPECT_EQ(found("NVIDIA A100-SXM4-80GB"), "A100_80");
  EXPECT_EQ(found("NVIDIA A100-SXM4-40GB"), "A100_40");
  EXPECT_EQ(found("NVIDIA H100 80GB HBM3"), "H100_SXM");
  EXPECT_EQ(found("NVIDIA H100 PCIe"), "H100_PCIe");
  EXPECT_EQ(found("NVIDIA GeForce RTX 4090"), "RTX4090");
}

TEST(Gpu, ShortNamesAreRecognisedInAnyCase) {
  EXPECT_EQ(found("mi300x"), "MI300X");
  EXPECT_EQ(found("H100"), "H100_SXM");
  EXPECT_EQ(found("a100_80"), "A100_80");
}

// Names that hold the name of another GPU.
TEST(Gpu, PartsOfLongerWordsAreNotRecognised) {
  EXPECT_EQ(found("NVIDIA RTX A1000"), "");
  EXPECT_EQ(found("NVIDIA GH200 480GB"), "");
  EXPECT_EQ(found("NVIDIA GB200"), "");
  EXPECT_EQ(found("H2000"), "");
  EXPECT_EQ(found("B2000"), "");
  EXPECT_EQ(found("A1000"), "");
  EXPECT_EQ(found("A100X"), "");
  EXPECT_EQ(found("GH200, H200"), "H200");  // the second time it is a word
  EXPECT_EQ(found("(h200)"), "H200");
}

TEST(Gpu, OtherBoardsOfTheSameNameAreNotRecognised) {
  EXPECT_EQ(found("NVIDIA GeForce RTX 4090 Laptop GPU"), "");
  EXPECT_EQ(found("NVIDIA GeForce RTX 4090 D"), "");
  EXPECT_EQ(found("NVIDIA H100 NVL"), "");
  EXPECT_EQ(found("NVIDIA H200 NVL"), "");
  EXPECT_EQ(found("NVIDIA A100-SXM-64GB"), "");
  EXPECT_EQ(found("NVIDIA A100-SXM4-80GB MIG 1g.10gb"), "");
  EXPECT_EQ(found("NVIDIA A100 80GB PCIe"), "A100_80");
}

TEST(Gpu, UnknownDevicesAreNotGuessed) {
  EXPECT_EQ(found("Tesla V100-SXM2-16GB"), "");
  EXPECT_EQ(found("AMD Instinct MI308X"), "");
  EXPECT_EQ(found(""), "");
}

TEST(Gpu, EveryFileIsCompleteAndGivesItsSources) {
  EXPECT_EQ(gpu_files().size(), 14u);
  for (const GpuFile& file : gpu_files()) {
    SCOPED_TRACE(file.name);
    const Gpu gpu = read_gpu(file.text, file.name);
    EXPECT_EQ(gpu.name + ".json", file.name);
    EXPECT_FALSE(gpu.device_names.empty());
    EXPECT_EQ(file.device_names, fmt::format("{}\n", fmt::join(gpu.device_names, "\n")));
    // What names a GPU must not rule it out.
    for (const std::string& name : gpu.device_names) EXPECT_EQ(found(name), gpu.name) << name;
    EXPECT_TRUE(gpu.memory_gb && gpu.memory_gbps);
    for (const char* spec : {"matrix_bf16", "matrix_fp16", "matrix_fp32", "vector_fp32"})
      EXPECT_TRUE(gpu.peak_tflops.contains(spec)) << spec;
    const auto text = parse_json_value(file.text);
    ASSERT_TRUE(text);
    const Value* peaks = text->find("peak_tflops");
    ASSERT_NE(peaks, nullptr);
    for (const Value& figure : peaks->items()) {
      ASSERT_NE(figure.find("source"), nullptr);
      EXPECT_FALSE(figure.find("source")->as_text().empty());
    }
  }
}

TEST(Gpu, LinksAreThoseOfTheBoardAndOfTheRanksThatUseThem) {
  EXPECT_EQ(link_gbps("NVIDIA H200", 8), 450);
  EXPECT_EQ(link_gbps("NVIDIA H200 NVL", 8), std::nullopt);  // bridges between pairs
  EXPECT_EQ(link_gbps("NVIDIA A100-SXM4-40GB", 4), 300);
  EXPECT_EQ(link_gbps("NVIDIA A100-PCIE-40GB", 4), std::nullopt);
  EXPECT_EQ(link_gbps("AMD Instinct MI300X", 8), 448);
  EXPECT_EQ(link_gbps("AMD Instinct MI300X", 2), 64);  // one of seven links leads to the other
  EXPECT_EQ(link_gbps("AMD Instinct MI300X", 1), std::nullopt);
  EXPECT_EQ(link_gbps("Synthetic GPU", 8), std::nullopt);
  for (const GpuFile& file : gpu_files()) {
    const auto text = parse_json_value(file.text);
    const Value* const link = text->find("link_gbps");
    if (link == nullptr) continue;
    ASSERT_NE(link->find("source"), nullptr) << file.name;
    EXPECT_FALSE(link->find("source")->as_text().empty()) << file.name;
  }
}

TEST(Gpu, NoTwoGpusShareADeviceName) {
  std::set<std::string> names;
  for (const Gpu& gpu : known_gpus())
    for (const std::string& name : gpu.device_names) EXPECT_TRUE(names.insert(name).second) << name;
}

TEST(Gpu, ReferencePlatformsKeepTheReferencesFigures) {
  EXPECT_EQ(find_gpu("MI300X")->achievable_tflops.at("matrix_bf16"), 708);
  EXPECT_EQ(find_gpu("MI325X")->achievable_tflops.at("vector_fp64"), 48);
}

TEST(Gpu, TheReferencesArchFilesAreRead) {
  const Gpu gpu = read_gpu(
      R"({"name": "X1", "mem_bw_gbps": 5300, "max_achievable_tflops": {"matrix_bf16": 708}})", "x");
  EXPECT_EQ(gpu.name, "X1");
  EXPECT_EQ(gpu.memory_gbps, 5300);
  EXPECT_EQ(gpu.peak_tflops.at("matrix_bf16"), 708);
  EXPECT_EQ(gpu.memory_gb, std::nullopt);
}

TEST(Gpu, BadFilesAreRefusedWithAReason) {
  EXPECT_THROW((void)read_gpu("", "x"), Error);
  EXPECT_THROW((void)read_gpu("[1]", "x"), Error);
  EXPECT_THROW((void)read_gpu(R"({"mem_bw_gbps": -1})", "x"), Error);
  EXPECT_THROW((void)read_gpu(R"({"mem_bw_gbps": "fast"})", "x"), Error);
  EXPECT_THROW((void)read_gpu(R"({"peak_tflops": 3})", "x"), Error);
  EXPECT_THROW((void)read_gpu("{}", "x"), Error);
  EXPECT_THROW((void)read_gpu(R"({"traceEvents": []})", "x"), Error);
  EXPECT_THROW((void)read_gpu(R"({"name": 5})", "x"), Error);
  try {
    (void)read_gpu(R"({"peak_tflops": {"matrix_bf16": 0}})", "my.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "my.json: matrix_bf16: expected a positive number");
  }
}

TEST(Gpu, AbsurdFiguresAreRefused) {
  for (const char* figure : {"1e308", "1.1e9", "1e-7", "5e-324"}) {
    SCOPED_TRACE(figure);
    EXPECT_THROW((void)read_gpu(fmt::format(R"({{"mem_bw_gbps": {}}})", figure), "x"), Error);
  }
  EXPECT_EQ(read_gpu(R"({"mem_bw_gbps": 1e9})", "x").memory_gbps, 1e9);
  try {
    (void)read_gpu(R"({"peak_tflops": {"matrix_bf16": 1e300}})", "my.json");
    FAIL();
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(),
                 "my.json: matrix_bf16: 1e+300 is not the figure of a GPU; expected 1e-06 to "
                 "1000000000");
  }
}

}  // namespace
}  // namespace tracelens::perf
