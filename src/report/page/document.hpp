// document.hpp: a report as one HTML file that people look at, offline; docs/page-format.md has its
// format, web/ the application in it.
//   const PageContent content{.title = "Performance report", .tables = tables};
//   file.write(page_document(content));
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/page.hpp>
#include <tracelens/table.hpp>
#include <vector>

namespace tracelens {

struct PageContent {
  std::string title = {}, subtitle = {}, version = {}, verb = {};
  std::vector<std::string> source = {};
  std::string overview_json = "null";
  std::string without_script = {};  // markup: what a reader without the application sees
  const Page* page = nullptr;       // lanes and the rest; none: tables alone. Not owned
  std::span<const Table* const> tables = {};
  // Columns that are not read first; none without a function.
  bool (*is_folded)(const Table& table, std::string_view column) = nullptr;
  std::size_t most_bytes = 8'000'000;  // rows of tables go where the file would be larger
  int threads = 0;                     // to pack it with; 0 is one per core
};

[[nodiscard]] std::string page_document(const PageContent& content);

}  // namespace tracelens
