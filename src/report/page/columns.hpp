// columns.hpp: the parts of a page as blobs of columns; docs/page-format.md lists them.
#pragma once

#include <cstddef>
#include <tracelens/page.hpp>
#include <tracelens/table.hpp>

#include "report/page/blob.hpp"

namespace tracelens {

[[nodiscard]] PageBlob table_blob(const Table& table, std::size_t rows, PageTexts& texts);
[[nodiscard]] PageBlob lane_blob(const PageLane& lane, const Page& page, PageTexts& texts);
[[nodiscard]] PageBlob ops_blob(const Page& page, PageTexts& texts);
[[nodiscard]] PageBlob nodes_blob(const Page& page, PageTexts& texts);
[[nodiscard]] PageBlob texts_blob(const PageTexts& texts);

}  // namespace tracelens
