// notes.hpp: the notes on cells of the first row, which Excel shows when the mouse rests there: their
// texts, and the boxes they are shown in.
//   parts.notes = notes_xml(notes);  parts.shapes = note_shapes_xml(notes, head.columns, sheet);
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "report/xlsx/sheet.hpp"

namespace tracelens::xlsx {

struct Note {
  std::size_t column = 0;
  std::string text;
};

// Excel numbers the boxes of a sheet in blocks of so many, of which each sheet has one here.
inline constexpr std::size_t kMostNotes = 1023;

[[nodiscard]] std::string notes_xml(std::span<const Note> notes);
// `sheet` counts from 1.
[[nodiscard]] std::string note_shapes_xml(std::span<const Note> notes,
                                          std::span<const Column> columns, std::size_t sheet);

}  // namespace tracelens::xlsx
