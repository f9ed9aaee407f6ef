// The file: policy, style, what a reader without script sees, manifest, blobs, application.
#include "report/page/document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <tracelens/table_text.hpp>
#include <utility>

#include "io/parallel.hpp"
#include "io/threads.hpp"
#include "report/page/application.hpp"
#include "report/page/blob.hpp"
#include "report/page/columns.hpp"
#include "report/page/manifest.hpp"
#include "table/markup.hpp"

namespace tracelens {
namespace {

// Rows of a table that a page holds; fewer where the file would become too large.
constexpr std::size_t kRowLimits[] = {5'000, 1'000, 100, 0};

// Thinned where it was made: its picture needs every row.
constexpr std::string_view kDrawnWhole = "memory_timeline";

// A hash of hexadecimal digits as a policy wants it.
std::string policy_hash(std::string_view digits) {
  std::string bytes;
  for (std::size_t at = 0; at + 1 < digits.size(); at += 2)
    bytes += static_cast<char>(std::stoi(std::string{digits.substr(at, 2)}, nullptr, 16));
  return "'sha256-" + base64(bytes) + "'";
}

// Nothing is loaded, and no script or style but our own runs, whatever a trace has for names.
std::string policy(const PageApplication& application) {
  return fmt::format(
      "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; "
      "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
      policy_hash(application.script_sha256), policy_hash(application.style_sha256));
}

struct Packed {
  std::string text;
  std::size_t raw_bytes = 0;
};

Packed pack(const PageBlob& blob) {
  const std::string bytes = blob.bytes();
  return {base64(zlib_packed(bytes)), bytes.size()};
}

struct Blobs {
  PageParts parts;
  std::vector<Packed> packed;  // the texts first
  [[nodiscard]] std::size_t bytes() const {
    std::size_t sum = 0;
    for (const Packed& blob : packed) sum += blob.text.size();
    return sum;
  }
};

Blobs make_blobs(const PageContent& content, std::size_t row_limit) {
  PageTexts texts;
  Blobs blobs;
  std::vector<PageBlob> made(1);  // the texts, when all are known
  const auto add = [&](PageBlob blob) {
    made.push_back(std::move(blob));
    return made.size() - 1;
  };
  std::size_t cut_tables = 0;
  for (const Table* const table : content.tables) {
    const std::size_t kept =
        table->name() == kDrawnWhole ? table->rows() : std::min(table->rows(), row_limit);
    cut_tables += kept < table->rows();
    blobs.parts.tables.push_back({table, kept, add(table_blob(*table, kept, texts))});
  }
  if (const Page* const page = content.page; page != nullptr) {
    for (const PageLane& lane : page->lanes)
      blobs.parts.lane_blobs.push_back(add(lane_blob(lane, *page, texts)));
    if (!page->ops.empty()) blobs.parts.ops_blob = static_cast<int>(add(ops_blob(*page, texts)));
    if (!page->nodes.empty())
      blobs.parts.nodes_blob = static_cast<int>(add(nodes_blob(*page, texts)));
  }
  made[0] = texts_blob(texts);
  // Packing is most of the work of a page.
  blobs.packed.resize(made.size());
  io::for_each_part(io::thread_count(content.threads), made.size(),
                    [&](std::size_t i) { blobs.packed[i] = pack(made[i]); });
  for (const Packed& blob : blobs.packed) blobs.parts.raw_bytes.push_back(blob.raw_bytes);
  if (cut_tables > 0)
    blobs.parts.left_out.push_back(
        fmt::format("{} of {} tables have their first {} rows here only; all rows: -o report.xlsx",
                    cut_tables, content.tables.size(), with_separators(std::to_string(row_limit))));
  if (texts.shortened() > 0)
    blobs.parts.left_out.push_back(
        fmt::format("{} very long texts are shortened", texts.shortened()));
  return blobs;
}

}  // namespace

std::string page_document(const PageContent& content) {
  Blobs blobs;
  for (const std::size_t row_limit : kRowLimits) {
    blobs = make_blobs(content, row_limit);
    if (blobs.bytes() <= content.most_bytes) break;
  }
  const PageApplication application = page_application();
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"referrer\" content=\"no-referrer\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<title>{}</title>\n<style>{}</style>\n</head>\n<body>\n<noscript>\n",
      as_markup(policy(application)), as_markup(content.title), application.style);
  out += content.without_script;
  out +=
      "</noscript>\n<div id=\"app\"></div>\n<script type=\"application/json\" id=\"tl-manifest\">";
  out += page_manifest(content, blobs.parts);
  out += "</script>\n";
  for (std::size_t i = 0; i < blobs.packed.size(); ++i)
    out += fmt::format("<script type=\"text/plain\" id=\"tl-b{}\">{}</script>\n", i,
                       blobs.packed[i].text);
  return out.append("<script>").append(application.script).append("</script>\n</body>\n</html>\n");
}

}  // namespace tracelens
