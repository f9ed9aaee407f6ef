#include "sqlite/names.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <iterator>
#include <system_error>

namespace tracelens::db {
namespace {

std::string in_quotes(std::string_view text, char quote) {
  std::string out{quote};
  for (const char c : text) {
    if (c == '\0') continue;  // would end the statement
    if (c == quote) out.push_back(quote);
    out.push_back(c);
  }
  out.push_back(quote);
  return out;
}

}  // namespace

std::string quoted_name(std::string_view name) { return in_quotes(name, '"'); }
std::string quoted_text(std::string_view text) { return in_quotes(text, '\''); }

std::string address_of_file(const std::string& path, std::string_view parameters) {
  // With an empty host, which "//tmp" would else be taken for.
  std::string address = "file://";
  std::error_code error;
  for (const char c : std::filesystem::absolute(path, error).string()) {
    const bool is_plain = ('a' <= c && c <= 'z') || ('A' <= c && c <= 'Z') ||
                          ('0' <= c && c <= '9') ||
                          std::string_view{"/._-"}.find(c) != std::string_view::npos;
    if (is_plain)
      address += c;
    else
      fmt::format_to(std::back_inserter(address), "%{:02x}", static_cast<unsigned char>(c));
  }
  return address.append("?").append(parameters);
}

}  // namespace tracelens::db
