// manifest.hpp: what a page says about itself before any blob is unpacked.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <tracelens/page.hpp>
#include <vector>

#include "report/page/document.hpp"

namespace tracelens {

// A table in the file.
struct PageTable {
  const Table* table = nullptr;
  std::size_t kept_rows = 0, blob = 0;
};

// Where the parts of a page are.
struct PageParts {
  std::vector<PageTable> tables = {};
  std::vector<std::size_t> lane_blobs = {};  // one per lane
  int ops_blob = -1, nodes_blob = -1;
  std::vector<std::size_t> raw_bytes = {};  // of every blob
  std::vector<std::string> left_out = {};
};

// JSON that can stand in a script element: nothing in it begins or ends markup.
[[nodiscard]] std::string page_manifest(const PageContent& content, const PageParts& parts);

// JSON text without <, >, &, U+2028 and U+2029.
[[nodiscard]] std::string safe_in_script(std::string_view json);

}  // namespace tracelens
