// files.hpp: whole text files, as the rest of TraceLens reads and writes them. In src/io.
//   const std::string text = read_text_file("models.json.gz");      // unpacked by its content
//   write_text_file("roofline.svg", picture);                       // complete or not at all
#pragma once

#include <string>
#include <string_view>

namespace tracelens {

// What a trace is called that came by standard input, whose path is "-".
inline constexpr std::string_view kStandardInput = "standard input";

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

// Lets the readers of this process map large plain profiles (*.xplane.pb) into memory rather than
// copy them. A mapped file that somebody shortens meanwhile would end the process by SIGBUS: this
// installs a handler, which leaves every fault outside our mappings to the handler that was there
// before. Call it once, from main(), if at all; a handler installed later must pass on to it.
void guard_mapped_files();

}  // namespace tracelens
