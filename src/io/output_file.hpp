// output_file.hpp: a file that appears under its name complete, or not at all.
//   io::OutputFile out{"report.csv"};
//   out.write(text);
//   out.commit();                 // without it the destructor leaves no trace of the file
// The text goes into a file without a name in the target's folder, which is gone by itself whatever
// ends the program, and gets the target's name by commit(), by way of a hidden one where a file is to
// be replaced. Where the file system has no such files
// a hidden one stands beside the target instead, and stays if a signal ends the program. A target
// that is no regular file (/dev/stdout or "-", a FIFO, a device) cannot be renamed over: there the
// text is written through as it comes. Every function throws Error naming the file and the reason.
#pragma once

#include <string>
#include <string_view>

namespace tracelens::io {

// What becomes of a symbolic link under the output's name.
enum class Links {
  kFollow,   // the file it leads to is replaced: the user named it
  kReplace,  // the link itself is; for names that nobody has typed. Such an output is a plain file
};

class OutputFile {
 public:
  // The folder must exist; see make_directories().
  explicit OutputFile(std::string path, Links links = Links::kFollow);
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();

  void write(std::string_view text);
  // Keeps nothing of it in memory any more: for whoever writes to many files at once.
  void flush();
  // An existing empty file for a library that wants a path to write to; commit() then publishes
  // what stands there. For an output, use this or write(), not both.
  std::string temporary_path();
  // All of commit() but the renaming, which takes no room on the disk: for files that appear
  // together or not at all. Nothing can be written afterwards, and no descriptor is held.
  void prepare();
  // Everything is on the disk and under its name when this returns. Call it once, last.
  void commit();

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  void write_through(int fd);
  void create_unnamed(unsigned mode);
  void create_temporary(const std::string& beside, unsigned mode);
  void give_name();
  void copy_temporary_through();
  void close();
  [[noreturn]] void fail(const char* what) const;

  std::string path_;       // as the user wrote it
  std::string target_;     // the same with symbolic links followed: what commit() replaces
  std::string temporary_;  // "" when there is no file with a name to remove
  std::string buffer_;     // written when large
  int fd_ = -1;            // the temporary file, or what is written through
  bool through_ = false;   // the target is no regular file
  bool prepared_ = false;
};

// The target of a hidden file that stands beside it because the run that wrote it was killed between
// naming and renaming; "" for every other file, also while that run may still be at work.
[[nodiscard]] std::string abandoned_by(const std::string& path);

// Where the file stands, or would stand, that `path` leads to through links, dangling ones included.
[[nodiscard]] std::string file_behind(const std::string& path);

// Makes the folder `path` and those above it that are missing.
void make_directories(const std::string& path);

}  // namespace tracelens::io
