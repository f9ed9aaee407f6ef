#include "report/sinks/xlsx_close.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xlsxwriter.h>
#include <zip.h>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string_view>
#include <system_error>
#include <tracelens/error.hpp>

namespace tracelens {
namespace {

// Keeps standard error of the whole process, for as long as it lives, and then passes it on without
// the lines of libxlsxwriter.
class KeptErrors {
 public:
  KeptErrors() {
    std::fflush(stderr);
    real_ = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    kept_ = ::memfd_create("errors", MFD_CLOEXEC);
    if (real_ >= 0 && kept_ >= 0) ::dup2(kept_, STDERR_FILENO);
  }
  KeptErrors(const KeptErrors&) = delete;
  KeptErrors& operator=(const KeptErrors&) = delete;
  ~KeptErrors() {
    std::fflush(stderr);
    if (real_ >= 0 && kept_ >= 0) {
      ::dup2(real_, STDERR_FILENO);
      pass_on();
    }
    if (real_ >= 0) ::close(real_);
    if (kept_ >= 0) ::close(kept_);
  }

 private:
  void pass_on() const {
    char block[4096];
    std::string text;
    ::lseek(kept_, 0, SEEK_SET);
    for (ssize_t got = 0; (got = ::read(kept_, block, sizeof block)) > 0;)
      text.append(block, static_cast<std::size_t>(got));
    for (std::size_t begin = 0, end = 0; begin < text.size(); begin = end) {
      end = std::min(text.find('\n', begin), text.size() - 1) + 1;
      const std::string_view line = std::string_view{text}.substr(begin, end - begin);
      if (!line.starts_with("[ERROR]")) (void)std::fwrite(line.data(), 1, line.size(), stderr);
    }
  }
  int real_ = -1, kept_ = -1;
};

struct CloseArchive {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
struct CloseMember {
  void operator()(zip_file_t* member) const { zip_fclose(member); }
};

// Whether the last tag of a member closes the first: <worksheet ...>...</worksheet>.
bool ends_as_it_begins(zip_t* book, zip_uint64_t index) {
  const std::unique_ptr<zip_file_t, CloseMember> member{zip_fopen_index(book, index, 0)};
  std::string block(std::size_t{64} << 10, '\0'), head, tail;
  constexpr std::size_t kTagRoom = 512;
  zip_int64_t got = 0;
  while (member && (got = zip_fread(member.get(), block.data(), block.size())) > 0) {
    const auto text = std::string_view{block}.substr(0, static_cast<std::size_t>(got));
    if (head.empty()) head = text.substr(0, kTagRoom);
    tail.append(text.substr(text.size() - std::min(text.size(), kTagRoom)));
    if (tail.size() > kTagRoom) tail.erase(0, tail.size() - kTagRoom);
  }
  std::size_t begin = head.starts_with("<?") ? head.find('<', 1) : 0;  // behind <?xml ...?>
  if (!member || got < 0 || begin == std::string::npos) return false;
  const std::string name = head.substr(begin + 1, head.find_first_of(" >/", begin) - begin - 1);
  while (tail.ends_with('\n')) tail.pop_back();
  return tail.ends_with(fmt::format("</{}>", name)) ||
         (tail.ends_with("/>") && tail.rfind('<') == tail.rfind("<" + name));
}

[[noreturn]] void fail(const std::string& output, int problem) {
  throw Error{output, "cannot be written: " + std::generic_category().message(problem)};
}

}  // namespace

void close_workbook(lxw_workbook* workbook, const std::string& output) {
  lxw_error error = LXW_NO_ERROR;
  int problem = 0;
  {
    const KeptErrors quiet;
    errno = 0;
    error = workbook_close(workbook);
    problem = errno;
  }
  const bool is_system = error == LXW_ERROR_CREATING_XLSX_FILE ||
                         error == LXW_ERROR_CREATING_TMPFILE ||
                         error == LXW_ERROR_ZIP_FILE_OPERATION;
  if (is_system && problem != 0) fail(output, problem);
  if (error != LXW_NO_ERROR) throw Error{output, lxw_strerror(error)};
}

void check_workbook(const std::string& file, const std::string& output) {
  const std::unique_ptr<zip_t, CloseArchive> book{zip_open(file.c_str(), ZIP_RDONLY, nullptr)};
  const zip_int64_t members = book ? zip_get_num_entries(book.get(), 0) : 0;
  bool is_whole = members > 0;
  for (zip_int64_t i = 0; is_whole && i < members; ++i)
    is_whole = ends_as_it_begins(book.get(), static_cast<zip_uint64_t>(i));
  if (!is_whole)
    throw Error{output,
                "the workbook came out incomplete: there may be no room for temporary files "
                "(see TMPDIR), or they may not grow so large (ulimit -f)"};
}

}  // namespace tracelens
