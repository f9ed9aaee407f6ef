// The first screen as text: 24 lines of 80 columns, wider where there is room.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include <tracelens/overview.hpp>

#include "report/recipes/overview_parts.hpp"
#include "table/short_names.hpp"
#include "table/utf8.hpp"

namespace tracelens {
namespace {

constexpr std::size_t kPage = 100;  // width of the bar where there is no edge
constexpr std::size_t kLines =
    22;  // of a screen of 24: a blank line and where the report is follow
constexpr double kLeastShown = 0.05;  // percent; less reads as 0.0
constexpr std::string_view kBold = "\x1b[1m", kDim = "\x1b[2m", kPlain = "\x1b[0m";

// How a part of the bar looks, with colours and without them.
struct Ink {
  std::string_view cell, colour;
};
constexpr Ink kInks[] = {{"█", "\x1b[32m"}, {"▓", "\x1b[35m"}, {"▒", "\x1b[33m"}, {"░", "\x1b[2m"}};

class Screen {
 public:
  explicit Screen(const OverviewStyle& style)
      : style_{style}, width_{style.width == 0 ? kPage : style.width} {}

  void line(std::string_view text, std::string_view code = {}) {
    put(text, code);
    while (out_.ends_with(' ')) out_.pop_back();
    out_ += '\n';
  }
  void put(std::string_view text, std::string_view code = {}) {
    const bool styled = style_.colour && !code.empty();
    if (styled) out_ += code;
    out_ += text;
    if (styled) out_ += kPlain;
  }
  // In lines of the screen's width, all but the first one indented; without an edge in one.
  void wrapped(std::string_view text, std::string_view code = {}) {
    std::vector<std::string> words;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      words.emplace_back(text.substr(at, end - at));
      at = end + 1;
    }
    wrapped(words, " ", code);
  }
  // The same for parts that are not to be torn apart.
  void wrapped(const std::vector<std::string>& parts, std::string_view between,
               std::string_view code = {}) {
    constexpr std::size_t kIndent = 2;
    std::string current;
    for (const std::string& part : parts) {
      const std::size_t needed = display_width(current) + display_width(part) + between.size();
      if (has_edge() && needed > width_ && !current.empty()) {
        line(current, code);
        current.assign(kIndent, ' ');
      } else if (!current.empty()) {
        current += between;
      }
      current += has_edge() ? shorten(part, width_ - std::min(width_, kIndent)) : part;
    }
    if (!current.empty()) line(current, code);
  }

  // Of the width the whole has, what each part takes; a part that is there has at least one cell.
  void bar(const std::vector<Overview::Part>& parts) {
    std::vector<std::size_t> cells;
    std::size_t used = 0;
    for (const Overview::Part& part : parts) {
      const double share = std::clamp(part.percent / 100, 0.0, 1.0);
      auto count = static_cast<std::size_t>(std::lround(share * static_cast<double>(width_)));
      if (part.percent >= kLeastShown) count = std::max<std::size_t>(count, 1);
      cells.push_back(count);
      used += count;
    }
    if (cells.empty()) return;
    auto most = std::ranges::max_element(cells);
    *most += width_ - std::min(width_, used);
    *most -= std::min(*most, used - std::min(used, width_));
    for (std::size_t i = 0; i < cells.size(); ++i) {
      const Ink& ink = kInks[std::min(i, std::size(kInks) - 1)];
      std::string text;
      for (std::size_t k = 0; k < cells[i]; ++k) text += ink.cell;
      put(text, ink.colour);
    }
    line("");
  }

  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] bool has_edge() const { return style_.width != 0; }
  std::string text() { return std::move(out_); }

 private:
  const OverviewStyle& style_;
  std::size_t width_;
  std::string out_;
};

std::string part_text(const Overview::Part& part) {
  return fmt::format("{} {:.1f}% ({})", part.name, part.percent, time_text(part.ns));
}

std::vector<std::string> legend(const std::vector<Overview::Part>& parts) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < parts.size(); ++i)
    texts.push_back(fmt::format("{} {} {:.1f}%", kInks[std::min(i, std::size(kInks) - 1)].cell,
                                parts[i].name, parts[i].percent));
  return texts;
}

std::vector<std::string> causes_of_idle(const std::vector<Overview::Part>& causes) {
  std::vector<std::string> texts{"idle for"};
  for (std::size_t i = 0; i < causes.size(); ++i)
    texts.push_back(part_text(causes[i]) + (i + 1 < causes.size() ? "," : ""));
  return texts;
}

std::string padded(const std::string& text, std::size_t width) {
  const std::string shown = shorten(text, width);
  return shown + std::string(width - display_width(shown), ' ');
}

// "    23.2 ms"
std::string time_cell(std::int64_t ns) {
  constexpr std::size_t kWidth = 11;
  const std::string time = time_text(ns);
  return std::string(kWidth - std::min(kWidth, display_width(time)), ' ') + time;
}

void write_costs(Screen& screen, const Overview& overview) {
  std::size_t name_width = display_width(overview.costs_title);
  for (const Overview::Cost& cost : overview.costs)
    name_width = std::max(
        name_width, std::min<std::size_t>(display_width(cost.name), screen.has_edge() ? 30 : 200));
  const bool has_roofs = std::ranges::any_of(
      overview.costs, [](const Overview::Cost& cost) { return cost.roof_percent.has_value(); });
  screen.line(padded(overview.costs_title, name_width) + "       time   share  " +
                  (has_roofs ? "of roof  " : "") + overview.costliest_title,
              kBold);
  for (const Overview::Cost& cost : overview.costs) {
    const std::string roof = cost.roof_percent ? fmt::format("{:.0f}%", *cost.roof_percent) : "-";
    std::string row = padded(single_line(cost.name), name_width) + time_cell(cost.ns) +
                      fmt::format("  {:5.1f}%  ", cost.percent);
    if (has_roofs) row += fmt::format("{:>7}  ", roof);
    const std::size_t used = display_width(row);
    const std::string thing = single_line(cost.costliest);
    if (!screen.has_edge())
      row += thing;
    else if (used < screen.width())
      row += short_names({&thing, 1}, screen.width() - used).front();
    screen.line(row);
  }
}

void write_causes(Screen& screen, const Overview& overview) {
  std::size_t id_width = 0, title_width = display_width(overview.causes_title);
  for (const Overview::Cause& cause : overview.causes) {
    id_width = std::max(id_width, display_width(cause.id) + 2);
    title_width = std::max(title_width, id_width + display_width(cause.title));
  }
  if (screen.has_edge()) title_width = std::min<std::size_t>(title_width, 40);
  constexpr std::size_t kWide = 100;  // on a narrow screen the remedy is worth more than the time
  const bool has_times = !screen.has_edge() || screen.width() >= kWide;
  screen.line(padded(overview.causes_title, title_width) + (!has_times ? "   saves  by"
                                                            : overview.causes_per_step
                                                                ? " saves/step   share  by"
                                                                : "      saves   share  by"),
              kBold);
  for (const Overview::Cause& cause : overview.causes) {
    std::string row = padded(padded(cause.id, id_width) + cause.title, title_width);
    if (has_times) row += time_cell(cause.saving_ns);
    row += fmt::format("  {:5.1f}%  ", cause.percent);
    const std::string remedy = single_line(cause.remedy);
    const std::size_t used = display_width(row);
    if (!screen.has_edge())
      row += remedy;
    else if (used < screen.width())
      row += shorten(remedy, screen.width() - used);
    screen.line(row);
  }
}

std::string text_with(const Overview& overview, const OverviewStyle& style) {
  Screen screen{style};
  screen.wrapped(single_line(overview.run));
  screen.wrapped(single_line(overview.verdict), kBold);
  if (!overview.nothing_found.empty()) screen.wrapped(single_line(overview.nothing_found));
  screen.line("");
  if (!overview.causes.empty()) {
    write_causes(screen, overview);
    screen.line("");
  }
  if (!overview.split.empty()) {
    screen.bar(overview.split);
    screen.wrapped(legend(overview.split), "  ");
    if (!overview.idle_causes.empty()) screen.wrapped(causes_of_idle(overview.idle_causes), " ");
    if (!overview.costs.empty()) screen.line("");
  }
  if (!overview.costs.empty()) write_costs(screen, overview);
  if (!overview.advice.empty() || !overview.commands.empty()) screen.line("");
  for (const std::string& advice : overview.advice) screen.wrapped("- " + single_line(advice));
  for (const std::string& command : overview.commands)
    screen.line("  " + single_line(command), kDim);
  return screen.text();
}

// A command may be longer than a line.
std::size_t lines_on_screen(std::string_view text, std::size_t width) {
  std::size_t lines = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::size_t columns = display_width(text.substr(0, end));
    lines += width == 0 || columns == 0 ? 1 : (columns + width - 1) / width;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

}  // namespace

// As much advice, and as many kinds of work, as the screen has room for.
std::string overview_text(const Overview& overview, const OverviewStyle& style) {
  constexpr std::size_t kFewestCosts = 3;
  Overview shown = overview;
  while (true) {
    std::string text = text_with(shown, style);
    if (lines_on_screen(text, style.width) <= kLines) return text;
    if (shown.advice.size() > shown.caveats)
      shown.advice.pop_back();
    else if (shown.costs.size() > kFewestCosts)
      shown.costs.pop_back();
    else
      return text;
  }
}

}  // namespace tracelens
