// xlsx_xml.hpp: a stream of XML elements, from expat. Prefixes of names are dropped: Excel
// and LibreOffice choose different ones.
//   class Names : public XmlHandler { void on_start(...) override; ... };
//   parse_xml(xml_stream, "book.xlsx/xl/workbook.xml", names);
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace tracelens {

class XmlHandler {
 public:
  // Attributes by their local name; empty when there is none.
  using Attributes = std::function<std::string_view(std::string_view name)>;

  virtual ~XmlHandler() = default;
  virtual void on_start(std::string_view element, const Attributes& attribute) = 0;
  virtual void on_end(std::string_view element) = 0;
  virtual void on_text(std::string_view text) = 0;  // may come in pieces
};

// Fills a buffer and says how much; 0 at the end.
using XmlSource = std::function<std::size_t(std::span<char> into)>;

// Throws Error with `where` and the line when the text is not well-formed, or has a document type
// (no workbook has one, and its entities could grow without bound).
void parse_xml(const XmlSource& source, const std::string& where, XmlHandler& handler);

}  // namespace tracelens
