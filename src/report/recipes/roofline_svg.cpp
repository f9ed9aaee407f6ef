#include <tracelens/roofline.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <map>
#include <numbers>
#include <span>
#include <string_view>
#include <tracelens/table_text.hpp>
#include <vector>

#include "analysis/page/category_colours.hpp"
#include "analysis/page/roofline_layout.hpp"
#include "table/markup.hpp"
#include "table/shapes.hpp"
#include "table/utf8.hpp"

namespace tracelens {
namespace {

// All lengths are in pixels of a picture of this size; it scales with the page.
constexpr double kWidth = 1280, kHeight = 800;
constexpr double kLeft = 84, kRight = 900, kTop = 96, kBottom = 716;  // the plot
constexpr double kPanel = 932;                                        // the column to its right
constexpr double kLargestRadius = 26, kSmallestRadius = 3.5;
constexpr double kLetter = 6.6;  // mean width of a letter of 12 pixels height

// The classes of categories are drawn in order of time; the last colour is for all that follow.
// Distinct to the colour-blind, and of middle lightness so that they show on white and on black.
constexpr std::size_t kMostCategories = 10;  // with colours of their own, and one for the others

constexpr std::string_view kStyle = R"css(
text { font: 12px system-ui, "Segoe UI", Helvetica, Arial, sans-serif; fill: #24292f; }
.title { font-size: 20px; font-weight: 600; }
.head { font-weight: 600; }
.soft { fill: #57606a; }
.small { font-size: 11px; }
.paper { fill: #ffffff; }
.frame { fill: none; stroke: #8c959f; }
.grid { stroke: #d8dee4; }
.fine { stroke: #eef1f4; }
.roof { fill: none; stroke: #24292f; stroke-width: 2; }
.level { stroke: #24292f; stroke-width: 1.5; }
.halo { stroke: #ffffff; stroke-width: 3px; paint-order: stroke; stroke-linejoin: round; }
.lead { stroke: #57606a; stroke-width: 0.8; }
.point { fill-opacity: 0.55; stroke-width: 1.2; }
.beyond { fill-opacity: 0.2; stroke-dasharray: 3 2; }
@media (prefers-color-scheme: dark) {
  text { fill: #e6edf3; }
  .soft { fill: #9da7b3; }
  .paper { fill: #0d1117; }
  .frame { stroke: #6e7681; }
  .grid { stroke: #2b323b; }
  .fine { stroke: #1a2027; }
  .roof, .level { stroke: #e6edf3; }
  .halo { stroke: #0d1117; }
  .lead { stroke: #9da7b3; }
}
)css";

// "aten::mm" -> "mm": in a picture the namespace only takes room.
std::string_view short_name(std::string_view op) {
  if (op.starts_with("autograd::engine::evaluate_function: ")) op.remove_prefix(37);
  return op.starts_with("aten::") ? op.substr(6) : op;
}

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
  [[nodiscard]] bool overlaps(const Box& other) const {
    return x < other.x + other.width && other.x < x + width && y < other.y + other.height &&
           other.y < y + height;
  }
};

// One axis: powers of ten onto pixels.
struct Axis {
  double first = 0, last = 1;  // exponents
  double from = 0, to = 1;     // pixels
  [[nodiscard]] double operator()(double value) const {
    return from + (exponent_of(value) - first) / (last - first) * (to - from);
  }
  [[nodiscard]] double lowest() const { return std::pow(10, first); }
  [[nodiscard]] double highest() const { return std::pow(10, last); }
  // The whole powers of ten on it; with `before`, also the one before the first.
  [[nodiscard]] std::vector<int> decades(bool before = false) const {
    std::vector<int> found;
    for (int decade = static_cast<int>(std::ceil(first)) - (before ? 1 : 0); decade <= last;
         ++decade)
      found.push_back(decade);
    return found;
  }
};

struct Mark {  // a point that can be drawn
  const RooflinePoint* point;
  double intensity, tflops;
  double x = 0, y = 0, radius = 0;
  bool beyond = false;  // the axes: drawn at their edge
  std::string_view colour = {};
};

class Picture {
 public:
  Picture(const Roofline& roofline, const RooflinePicture& options)
      : roofline_{roofline},
        options_{options},
        layout_{roofline_layout(roofline, options.labelled)} {
    for (const RooflinePoint* const point : layout_.shown)
      marks_.push_back({point, *point->intensity(), *point->tflops()});
    x_ = {layout_.intensity.first, layout_.intensity.last, kLeft, kRight};
    y_ = {layout_.tflops.first, layout_.tflops.last, kBottom, kTop};
    choose_colours();
    place_marks();
  }

  std::string draw() {
    print(
        R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img">)",
        kWidth, kHeight);
    print("\n<title>{}</title>\n<style>{}</style>\n", as_markup(title()), kStyle);
    print(R"(<rect class="paper" width="{}" height="{}"/>)", kWidth, kHeight);
    print("\n");
    draw_head();
    draw_grid();
    draw_roofs();
    draw_marks();
    draw_roof_names();
    draw_labels();
    draw_legend();
    draw_list();
    draw_notes();
    print("</svg>\n");
    return std::move(out_);
  }

 private:
  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  void text(double x, double y, std::string_view classes, std::string_view words,
            std::string_view more = "") {
    print("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\"{}>{}</text>\n", x, y, classes, more,
          as_markup(words));
  }
  void line(double x1, double y1, double x2, double y2, std::string_view classes) {
    print("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" class=\"{}\"/>\n", x1, y1,
          x2, y2, classes);
  }

  [[nodiscard]] std::string title() const {
    return fmt::format("Roofline of {} on {}",
                       std::filesystem::path{options_.trace_name}.filename().string(),
                       roofline_.gpu.name);
  }
  [[nodiscard]] double terabytes() const { return roofline_.gpu.memory_gbps.value_or(0) / 1e3; }

  void choose_colours() {
    std::map<std::string_view, double> share;
    for (const Mark& mark : marks_) share[mark.point->category] += mark.point->share;
    for (const auto& [category, part] : share) legend_.push_back({category, part, {}});
    std::ranges::stable_sort(legend_, std::ranges::greater{}, &LegendEntry::share);
    for (std::size_t i = 0; i < legend_.size(); ++i)
      legend_[i].colour =
          i + 1 < kMostCategories ? category_colour(legend_[i].category) : kOtherColour;
    for (Mark& mark : marks_)
      mark.colour =
          std::ranges::find(legend_, mark.point->category, &LegendEntry::category)->colour;
  }

  void place_marks() {
    const double largest = marks_.empty() ? 1 : marks_.front().point->share;
    for (Mark& mark : marks_) {
      mark.x = std::clamp(x_(mark.intensity), kLeft, kRight);
      mark.y = std::clamp(y_(mark.tflops), kTop, kBottom);
      mark.beyond = mark.x != x_(mark.intensity) || mark.y != y_(mark.tflops);
      if (mark.beyond) ++beyond_;
      const double part = largest > 0 ? mark.point->share / largest : 0;
      mark.radius = std::max(kSmallestRadius, kLargestRadius * std::sqrt(part));
    }
  }

  void draw_head() {
    text(kLeft, 40, "title", title());
    std::string figures = fmt::format(
        "{} op shapes with a model: {:.1f} % of {} ms GPU time in ops", roofline_.points.size(),
        roofline_.covered(), four_digits(static_cast<double>(roofline_.all_ops_ns) / 1e6));
    // Work without FLOPs has a model, but no place between the axes.
    if (layout_.unplaced > 0) figures += fmt::format(", {:.1f} % drawn", roofline_.placed());
    text(kLeft, 64, "soft", figures + "  ·  circle area: GPU time  ·  roofs: datasheet peaks");
  }

  void draw_grid() {
    const auto tick = [](int exponent) {
      if (exponent >= 0 && exponent <= 4) return fmt::format("{:.0f}", std::pow(10, exponent));
      if (exponent < 0 && exponent >= -3)
        return fmt::format("{:.{}f}", std::pow(10, exponent), -exponent);
      return fmt::format("1e{}", exponent);
    };
    const auto inside = [](const Axis& axis, double value) {
      return value > axis.lowest() && value < axis.highest();
    };
    for (const int decade : x_.decades(true))
      for (int unit = 2; unit < 10; ++unit)
        if (const double value = unit * std::pow(10, decade); inside(x_, value))
          line(x_(value), kTop, x_(value), kBottom, "fine");
    for (const int decade : y_.decades(true))
      for (int unit = 2; unit < 10; ++unit)
        if (const double value = unit * std::pow(10, decade); inside(y_, value))
          line(kLeft, y_(value), kRight, y_(value), "fine");
    for (const int decade : x_.decades()) {
      const double x = x_(std::pow(10, decade));
      line(x, kTop, x, kBottom, "grid");
      text(x, kBottom + 20, "soft", tick(decade), " text-anchor=\"middle\"");
    }
    for (const int decade : y_.decades()) {
      const double y = y_(std::pow(10, decade));
      line(kLeft, y, kRight, y, "grid");
      text(kLeft - 8, y + 4, "soft", tick(decade), " text-anchor=\"end\"");
    }
    print("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"frame\"/>\n", kLeft, kTop,
          kRight - kLeft, kBottom - kTop);
    text((kLeft + kRight) / 2, kBottom + 44, "head", "Arithmetic intensity (FLOPs per byte)",
         " text-anchor=\"middle\"");
    const double middle = (kTop + kBottom) / 2;
    text(28, middle, "head", "Achieved rate (TFLOP/s)",
         fmt::format(" text-anchor=\"middle\" transform=\"rotate(-90 28 {:.1f})\"", middle));
  }

  void draw_roofs() {
    for (const RooflineLevel& level : layout_.levels) {
      const double y = y_(level.tflops);
      const double ridge = terabytes() > 0 ? x_(level.tflops / terabytes()) : kLeft;
      const double from = std::clamp(ridge, kLeft, kRight);
      line(from, y, kRight, y, "level");
      taken_.push_back({from, y - 1.5, kRight - from, 3});
    }
    if (terabytes() <= 0) return;
    const auto [x1, y1, x2, y2] = slope();
    line(x1, y1, x2, y2, "roof");
    constexpr int kPieces = 100;  // a slanted line is a row of small boxes
    for (int i = 0; i < kPieces; ++i) {
      const double dx = (x2 - x1) / kPieces, dy = (y2 - y1) / kPieces;
      taken_.push_back({x1 + i * dx, y1 + (i + 1) * dy - 1, dx, -dy + 2});
    }
  }

  // The memory roof: from the left or the lower edge up to the highest ridge.
  struct Slope {
    double x1, y1, x2, y2;
  };
  [[nodiscard]] Slope slope() const {
    const double start = std::max(x_.lowest(), y_.lowest() / terabytes());
    const double end = layout_.levels.empty() ? std::min(x_.highest(), y_.highest() / terabytes())
                                              : layout_.levels.front().tflops / terabytes();
    return {x_(start), y_(start * terabytes()), x_(end), y_(end * terabytes())};
  }

  // After the circles, so that none of them hides a name.
  void draw_roof_names() {
    for (const RooflineLevel& level : layout_.levels) draw_level_name(level);
    if (terabytes() > 0) draw_slope_name();
  }

  // Above its line or below it, at the right end or as far to the left as other lines and names
  // leave room.
  void draw_level_name(const RooflineLevel& level) {
    constexpr double kAbove = -5, kBelow = 14, kStep = 40;
    const std::string words = fmt::format("{}  {}", level.specs, rate_text(level.tflops));
    const double width = static_cast<double>(words.size()) * kLetter;
    for (double right = kRight - 8; right - width > kLeft; right -= kStep)
      for (const double below : {kAbove, kBelow}) {
        const double y = y_(level.tflops) + below;
        const Box box{right - width, y - 11, width, 14};
        if (std::ranges::any_of(taken_, [&](const Box& other) { return other.overlaps(box); }))
          continue;
        text(right, y, "halo", words, " text-anchor=\"end\"");
        taken_.push_back(box);
        return;
      }
  }

  // Along the slope, at the first place without circles.
  void draw_slope_name() {
    constexpr std::array<double, 5> kPlaces = {0.12, 0.3, 0.45, 0.6, 0.75};
    const Slope edge = slope();
    const double angle = std::atan2(edge.y2 - edge.y1, edge.x2 - edge.x1);
    const std::string words = fmt::format("memory  {:.4g} TB/s", terabytes());
    double x = 0, y = 0;
    std::vector<Box> boxes;
    const auto try_place = [&](double place) {
      x = edge.x1 + place * (edge.x2 - edge.x1);
      y = edge.y1 + place * (edge.y2 - edge.y1) - 8;
      constexpr int kPieces = 8;  // a slanted text is a row of small boxes
      const double piece = static_cast<double>(words.size()) * kLetter / kPieces;
      boxes.clear();
      for (int i = 0; i < kPieces; ++i)
        boxes.push_back(
            {x + i * piece * std::cos(angle), y + i * piece * std::sin(angle) - 14, piece + 4, 20});
      return std::ranges::none_of(marks_, [&](const Mark& mark) {
        const Box circle{mark.x - mark.radius, mark.y - mark.radius, 2 * mark.radius,
                         2 * mark.radius};
        return std::ranges::any_of(boxes, [&](const Box& box) { return box.overlaps(circle); });
      });
    };
    if (std::ranges::none_of(kPlaces, try_place)) try_place(kPlaces.front());
    taken_.insert(taken_.end(), boxes.begin(), boxes.end());
    text(x, y, "halo", words,
         fmt::format(" transform=\"rotate({:.2f} {:.1f} {:.1f})\"", angle * 180 / std::numbers::pi,
                     x, y));
  }

  void draw_marks() {
    print("<g>\n");
    for (const Mark& mark : marks_) {  // the largest first, so that none hides behind another
      const RooflinePoint& point = *mark.point;
      std::string words =
          fmt::format("{}\n{}\n{}, {} calls, {:.2f} % of GPU time\n{} FLOPs/byte, {}", point.op,
                      shapes_text(python_repr(point.dims)), point.category, point.calls,
                      point.share, four_digits(mark.intensity), rate_text(mark.tflops));
      if (const auto percent = point.percent_of_roof())
        words += fmt::format("\n{:.1f} % of the {} roof", *percent,
                             *point.bound == Bound::kCompute ? "compute" : "memory");
      print(
          "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\" class=\"{}\" fill=\"{}\" "
          "stroke=\"{}\"><title>",
          mark.x, mark.y, mark.radius, mark.beyond ? "point beyond" : "point", mark.colour,
          mark.colour);
      for (std::size_t from = 0; from <= words.size();) {  // the line breaks are ours to keep
        const std::size_t to = std::min(words.find('\n', from), words.size());
        print("{}{}", from == 0 ? "" : "\n",
              as_markup(std::string_view{words}.substr(from, to - from)));
        from = to + 1;
      }
      print("</title></circle>\n");
    }
    print("</g>\n");
  }

  // Greedy: the costliest op takes the first free place around its circle. One that finds none
  // stays without a name in the plot; the list has it.
  void draw_labels() {
    const std::size_t count = std::min(options_.labelled, marks_.size());
    for (std::size_t i = 0; i < count; ++i) {
      const Mark& mark = marks_[i];
      const double r = mark.radius * 0.7;
      taken_.push_back({mark.x - r, mark.y - r, 2 * r, 2 * r});
    }
    for (std::size_t i = 0; i < count; ++i) {
      const Mark& mark = marks_[i];
      const std::string words =
          fmt::format("{} {}", i + 1, shorten_middle(short_name(mark.point->op), 24));
      const double width = static_cast<double>(display_width(words)) * kLetter + 4;
      place_label(mark, words, width);
    }
  }

  void place_label(const Mark& mark, const std::string& words, double width) {
    constexpr double kTextHeight = 15;
    constexpr std::array<double, 4> kDistances = {4, 16, 32, 52};
    constexpr std::array<std::pair<double, double>, 8> kDirections = {
        {{1, 0}, {-1, 0}, {0, -1}, {0, 1}, {0.7, -0.7}, {0.7, 0.7}, {-0.7, -0.7}, {-0.7, 0.7}}};
    for (const double distance : kDistances)
      for (const auto& [dx, dy] : kDirections) {
        const double reach = mark.radius + distance;
        const double x = mark.x + dx * reach, y = mark.y + dy * reach;
        const double left = dx > 0 ? x : dx < 0 ? x - width : x - width / 2;
        const Box box{left, y + (dy - 1) * kTextHeight / 2, width, kTextHeight};
        const bool inside = box.x > kLeft + 2 && box.x + width < kRight - 2 && box.y > kTop + 2 &&
                            box.y + kTextHeight < kBottom - 2;
        if (!inside || std::ranges::any_of(taken_, [&](const Box& b) { return b.overlaps(box); }))
          continue;
        taken_.push_back(box);
        if (distance > 8) line(mark.x + dx * mark.radius, mark.y + dy * mark.radius, x, y, "lead");
        text(box.x + 2, box.y + 11.5, "halo", words);
        return;
      }
  }

  void draw_legend() {
    double y = kTop + 4;
    text(kPanel, y, "head", "Category");
    text(kWidth - 24, y, "soft small", "share of GPU time", " text-anchor=\"end\"");
    double others = 0;
    for (std::size_t i = 0; i < legend_.size(); ++i) {
      if (i + 1 >= kMostCategories) {
        others += legend_[i].share;
        continue;
      }
      draw_legend_row(y += 19, legend_[i].colour, shorten(legend_[i].category, 34),
                      legend_[i].share);
    }
    if (legend_.size() >= kMostCategories)
      draw_legend_row(y += 19, kOtherColour,
                      fmt::format("{} more", legend_.size() - kMostCategories + 1), others);
    panel_y_ = y;
  }
  void draw_legend_row(double y, std::string_view colour, std::string_view words, double share) {
    print(
        "<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"6\" class=\"point\" fill=\"{}\" stroke=\"{}\"/>\n",
        kPanel + 6, y - 4, colour, colour);
    text(kPanel + 20, y, "", words);
    text(kWidth - 24, y, "", fmt::format("{:.1f} %", share), " text-anchor=\"end\"");
  }

  void draw_list() {
    double y = panel_y_ + 40;
    text(kPanel, y, "head", "Costliest ops");
    text(kWidth - 92, y, "soft small", "GPU time", " text-anchor=\"end\"");
    text(kWidth - 24, y, "soft small", "of roof", " text-anchor=\"end\"");
    for (std::size_t i = 0; i < std::min(options_.labelled, marks_.size()); ++i) {
      if (y + 34 > kHeight - 16) return;
      const RooflinePoint& point = *marks_[i].point;
      const auto percent = point.percent_of_roof();
      y += 20;
      text(kPanel + 16, y, "head", std::to_string(i + 1), " text-anchor=\"end\"");
      text(kPanel + 24, y, "", shorten_middle(short_name(point.op), 26));
      text(kWidth - 92, y, "", fmt::format("{:.1f} %", point.share), " text-anchor=\"end\"");
      text(kWidth - 24, y, "", percent ? fmt::format("{:.0f} %", *percent) : "–",
           " text-anchor=\"end\"");
      y += 14;
      text(kPanel + 24, y, "soft small", shorten(shapes_text(python_repr(point.dims)), 43));
    }
  }

  void draw_notes() {
    std::vector<std::string> notes;
    if (marks_.empty()) notes.emplace_back("no op has shapes, a model and GPU time");
    if (layout_.unplaced > 0)
      notes.push_back(fmt::format(
          "not drawn: {} with a model but no FLOPs, as copies, or no bytes ({:.1f} % of GPU time)",
          layout_.unplaced, layout_.unplaced_share));
    if (layout_.tiny > 0)
      notes.push_back(
          fmt::format("{} below {} % of GPU time not drawn", layout_.tiny, kSmallestShare));
    if (beyond_ > 0) notes.push_back(fmt::format("dashed: {} beyond the axes", beyond_));
    text(kLeft, kHeight - 16, "soft small", fmt::format("{}", fmt::join(notes, "  ·  ")));
  }

  struct LegendEntry {
    std::string_view category;
    double share;
    std::string_view colour;
  };

  const Roofline& roofline_;
  const RooflinePicture& options_;
  const RooflineLayout layout_;
  std::vector<Mark> marks_;  // the most GPU time first
  std::vector<LegendEntry> legend_;
  std::vector<Box> taken_;  // places where no label may go
  Axis x_, y_;
  std::size_t beyond_ = 0;
  double panel_y_ = 0;
  std::string out_;
};

}  // namespace

std::string roofline_svg(const Roofline& roofline, const RooflinePicture& picture) {
  return Picture{roofline, picture}.draw();
}

}  // namespace tracelens
