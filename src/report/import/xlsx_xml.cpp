#include "report/import/xlsx_xml.hpp"

#include <expat.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <exception>
#include <memory>
#include <new>
#include <tracelens/error.hpp>

namespace tracelens {
namespace {

constexpr std::size_t kChunk = 64 << 10;
// Expat keeps a tag until it is whole. Texts are no part of tags.
constexpr std::int64_t kLongestTag = 1 << 20;

std::string_view local_name(std::string_view name) {
  return name.substr(name.find(':') + 1);  // npos + 1 is 0
}

// What expat's C functions need; an exception waits here until expat has returned.
struct Run {
  XML_Parser parser;
  XmlHandler& handler;
  std::exception_ptr thrown = nullptr;
  bool has_doctype = false;

  template <class Call>
  void guarded(Call&& call) {
    if (thrown) return;
    try {
      call();
    } catch (...) {
      thrown = std::current_exception();
      XML_StopParser(parser, XML_FALSE);
    }
  }
};

void start_element(void* data, const XML_Char* name, const XML_Char** attributes) {
  Run& run = *static_cast<Run*>(data);
  run.guarded([&] {
    run.handler.on_start(local_name(name), [attributes](std::string_view wanted) {
      for (const XML_Char** at = attributes; *at != nullptr; at += 2)
        if (local_name(*at) == wanted) return std::string_view{at[1]};
      return std::string_view{};
    });
  });
}

void end_element(void* data, const XML_Char* name) {
  Run& run = *static_cast<Run*>(data);
  run.guarded([&] { run.handler.on_end(local_name(name)); });
}

void text_piece(void* data, const XML_Char* text, int length) {
  Run& run = *static_cast<Run*>(data);
  run.guarded([&] { run.handler.on_text({text, static_cast<std::size_t>(length)}); });
}

void doctype(void* data, const XML_Char*, const XML_Char*, const XML_Char*, int) {
  Run& run = *static_cast<Run*>(data);
  run.has_doctype = true;
  XML_StopParser(run.parser, XML_FALSE);
}

}  // namespace

void parse_xml(const XmlSource& source, const std::string& where, XmlHandler& handler) {
  const std::unique_ptr<std::remove_pointer_t<XML_Parser>, decltype(&XML_ParserFree)> parser{
      XML_ParserCreate(nullptr), XML_ParserFree};
  if (!parser) throw std::bad_alloc{};
  Run run{parser.get(), handler};
  XML_SetUserData(parser.get(), &run);
  XML_SetElementHandler(parser.get(), start_element, end_element);
  XML_SetCharacterDataHandler(parser.get(), text_piece);
  XML_SetStartDoctypeDeclHandler(parser.get(), doctype);

  std::array<char, kChunk> chunk;
  std::int64_t given = 0, tag_start = 0;
  for (bool at_end = false; !at_end;) {
    const std::size_t got = source(chunk);
    at_end = got == 0;
    given += static_cast<std::int64_t>(got);
    const XML_Status status =
        XML_Parse(parser.get(), chunk.data(), static_cast<int>(got), at_end ? 1 : 0);
    if (run.thrown) std::rethrow_exception(run.thrown);
    if (run.has_doctype) throw Error{where, "has a document type, which no workbook has"};
    tag_start = std::max<std::int64_t>(tag_start, XML_GetCurrentByteIndex(parser.get()));
    if (given - tag_start > kLongestTag)
      throw Error{where, fmt::format("has a tag of more than {} MB", kLongestTag >> 20)};
    if (XML_GetErrorCode(parser.get()) == XML_ERROR_NO_MEMORY) throw std::bad_alloc{};
    if (status != XML_STATUS_OK)
      throw Error{where, fmt::format("is not well-formed XML: {} in line {}",
                                     XML_ErrorString(XML_GetErrorCode(parser.get())),
                                     XML_GetCurrentLineNumber(parser.get()))};
  }
}

}  // namespace tracelens
