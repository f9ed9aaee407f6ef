#include <tracelens/roofline.hpp>

#include <gtest/gtest.h>

#include <cmath>

#include "analysis/page/category_colours.hpp"

namespace tracelens {
namespace {

RooflinePoint point(std::string op, double intensity, double tflops, double share) {
  RooflinePoint point;
  point.op = std::move(op);
  point.category = "GEMM";
  point.compute_spec = "matrix_bf16";
  point.calls = 1;
  point.share = share;
  point.busy_ns = 1'000'000;
  point.flops = tflops * 1e9;
  point.bytes = point.flops / intensity;
  return point;
}

Roofline roofline_of(std::vector<RooflinePoint> points) {
  Roofline roofline;
  roofline.gpu.name = "H200";
  roofline.gpu.memory_gbps = 4800;
  roofline.gpu.peak_tflops = {{"matrix_bf16", 989.4}, {"vector_fp32", 66.9}};
  roofline.points = std::move(points);
  roofline.all_ops_ns = 2'000'000;
  return roofline;
}

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(RooflineSvg, HasACircleForEveryPointAndTheRoofsTheyRunAt) {
  const std::string svg =
      roofline_svg(roofline_of({point("aten::mm", 500, 700, 60), point("aten::bmm", 20, 50, 30)}),
                   {.trace_name = "runs/rank0.json.gz"});
  EXPECT_EQ(count(svg, "</title></circle>"), 2u);
  EXPECT_NE(svg.find("Roofline of rank0.json.gz on H200"), svg.npos);
  EXPECT_NE(svg.find("matrix bf16  989.4 TFLOP/s"), svg.npos);
  EXPECT_EQ(svg.find("vector fp32"), svg.npos);  // nothing runs at it
  EXPECT_NE(svg.find("memory  4.8 TB/s"), svg.npos);
  EXPECT_NE(svg.find("prefers-color-scheme: dark"), svg.npos);
}

TEST(RooflineSvg, AbsurdFiguresStayOnThePaper) {
  for (const double figure : {1e308, 1e-300, 5e-324}) {
    SCOPED_TRACE(figure);
    RooflinePoint few_bytes = point("mine", 1, 1, 60);
    few_bytes.bytes = figure;
    Roofline roofline = roofline_of({few_bytes, point("aten::mm", 500, 700, 30)});
    roofline.gpu.peak_tflops["matrix_bf16"] = figure;
    for (const double bandwidth : {4800.0, figure}) {
      roofline.gpu.memory_gbps = bandwidth;
      const std::string svg = roofline_svg(roofline, {.trace_name = "rank0.json.gz"});
      EXPECT_LT(svg.size(), 50'000u);
      for (const char* bad : {"=\"nan", "=\"-nan", "=\"inf", "=\"-inf"})
        EXPECT_EQ(svg.find(bad), svg.npos) << bad;
    }
  }
}

TEST(RooflineSvg, TextOfTheTraceIsEscaped) {
  const std::string svg = roofline_svg(roofline_of({point("<script>\"&\x01\xff\n", 10, 10, 50)}),
                                       {.trace_name = "<a>&.json"});
  EXPECT_EQ(svg.find("<script"), svg.npos);
  EXPECT_EQ(svg.find("<a>"), svg.npos);
  EXPECT_EQ(svg.find('\x01'), svg.npos);
  EXPECT_EQ(svg.find('\xff'), svg.npos);
  EXPECT_NE(svg.find("&lt;script&gt;&quot;&amp;"), svg.npos);
}

TEST(RooflineSvg, ReadsNothingFromOutside) {
  const std::string svg =
      roofline_svg(roofline_of({point("aten::mm", 10, 10, 50)}), {.trace_name = "a.json"});
  EXPECT_EQ(count(svg, "http"), 1u);  // the name of the namespace
  EXPECT_EQ(svg.find("href"), svg.npos);
  EXPECT_EQ(svg.find("url("), svg.npos);
  EXPECT_EQ(svg.find("<script"), svg.npos);
}

TEST(RooflineSvg, PointsWithoutAPlaceAreCounted) {
  RooflinePoint copy = point("aten::copy_", 1, 1, 12.5), unmeasured = point("aten::mm", 1, 1, 0);
  copy.flops = 0;
  unmeasured.busy_ns = 0;
  const std::string svg = roofline_svg(
      roofline_of({point("aten::mm", 10, 10, 50), copy, unmeasured}), {.trace_name = "a.json"});
  EXPECT_EQ(count(svg, "</title></circle>"), 1u);
  EXPECT_NE(
      svg.find(
          "not drawn: 2 with a model but no FLOPs, as copies, or no bytes (12.5 % of GPU time)"),
      svg.npos);
}

TEST(RooflineSvg, AnEmptyRooflineIsAPictureThatSaysSo) {
  Roofline empty = roofline_of({});
  empty.gpu.memory_gbps.reset();
  const std::string svg = roofline_svg(empty, {.trace_name = "a.json"});
  EXPECT_NE(svg.find("no op has shapes, a model and GPU time"), svg.npos);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
}

TEST(RooflineSvg, ExtremeNumbersStayNumbers) {
  const std::string svg =
      roofline_svg(roofline_of({point("a", 1e-30, 1e-30, 50), point("b", 1e30, 1e30, 50)}),
                   {.trace_name = "a.json"});
  EXPECT_EQ(svg.find("nan"), svg.npos);
  EXPECT_EQ(svg.find("inf"), svg.npos);
}

TEST(RooflineSvg, LabelsOfCrowdedPointsDoNotOverlap) {
  std::vector<RooflinePoint> crowd;
  for (int i = 0; i < 12; ++i) crowd.push_back(point("aten::mm", 300 + i, 400 + i, 5));
  const std::string svg = roofline_svg(roofline_of(std::move(crowd)), {.trace_name = "a.json"});
  // Labels are the texts of class halo with a number first; equal places would be equal texts.
  std::vector<std::pair<double, double>> places;
  for (std::size_t at = svg.find("class=\"halo\">"); at != svg.npos;
       at = svg.find("class=\"halo\">", at + 1)) {
    const std::size_t start = svg.rfind("<text x=\"", at);
    places.emplace_back(std::stod(svg.substr(start + 9)),
                        std::stod(svg.substr(svg.find("y=\"", start) + 3)));
  }
  ASSERT_GT(places.size(), 4u);
  for (std::size_t i = 0; i < places.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_TRUE(std::abs(places[i].second - places[j].second) >= 12 ||
                  std::abs(places[i].first - places[j].first) >= 25)
          << i << " and " << j;
}

TEST(RooflineSvg, ACategoryHasOneColourInEveryPicture) {
  RooflinePoint gemm = point("aten::mm", 100, 300, 60), norm = point("aten::layer_norm", 1, 2, 40);
  norm.category = "NORM_fwd";
  const std::string first = roofline_svg(roofline_of({gemm, norm}), {});
  gemm.share = 30;
  norm.share = 70;
  const std::string second = roofline_svg(roofline_of({norm, gemm}), {});
  for (const std::string_view category : {"GEMM", "NORM_fwd"}) {
    const std::string fill = "fill=\"" + std::string{category_colour(category)} + "\"";
    EXPECT_EQ(count(first, fill), 2u) << category;  // its circle, and in the legend
    EXPECT_EQ(count(second, fill), 2u) << category;
  }
  EXPECT_EQ(category_colour("SDPA_fwd"), category_colour("SDPA_bwd"));
  EXPECT_EQ(category_colour("gemm"), category_colour("GEMM"));
  EXPECT_EQ(category_name("attention_bwd"), "SDPA_bwd");
  EXPECT_EQ(category_name("elementwise"), "elementwise");
  EXPECT_NE(category_colour("GEMM"), category_colour("NORM_fwd"));
}

TEST(RooflineSvg, WhatIsModelledButNotDrawnIsExplained) {
  RooflinePoint copy = point("aten::copy_", 1, 1, 20);
  copy.flops = 0;
  const std::string svg = roofline_svg(roofline_of({point("aten::mm", 100, 300, 80), copy}), {});
  EXPECT_NE(svg.find("% drawn"), std::string::npos);
  EXPECT_NE(svg.find("not drawn: 1 with a model but no FLOPs"), std::string::npos);
}

}  // namespace
}  // namespace tracelens
