// files.hpp: whole text files, as the rest of TraceLens reads and writes them. In src/io.
//   const std::string text = read_text_file("models.json.gz");      // unpacked by its content
//   write_text_file("roofline.svg", picture);                       // complete or not at all
#pragma once

#include <string>
#include <string_view>

namespace tracelens {

// Throws Error when it cannot be read.
[[nodiscard]] std::string read_text_file(const std::string& path);

// The folder must exist. Throws Error when the file cannot be written; an old one is replaced only
// when the new one is complete.
void write_text_file(const std::string& path, std::string_view text);

// Whether a file of this name could be written; tries it, and leaves nothing behind.
[[nodiscard]] bool can_write(const std::string& path);

// Where the file stands, or would stand, that this path leads to: an absolute path without links.
// Of a link to nothing it is the file that would be made by writing through it.
[[nodiscard]] std::string file_behind(const std::string& path);

// Makes the folder and those above it that are missing. Throws Error.
void make_folder(const std::string& path);

}  // namespace tracelens
