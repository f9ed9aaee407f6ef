#include "io/stream.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>
#include <ostream>
#include <thread>
#include <tracelens/error.hpp>

#include "io/crc.hpp"
#include "io/input_buffer.hpp"
#include "io/mapped_file.hpp"
#include "io/packing_samples.hpp"
#include "io/temporary_folder.hpp"

namespace tracelens::io {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

std::string read_all(Stream& in, std::size_t block_bytes = 4096) {
  std::string text, block(block_bytes, '\0');
  while (const std::size_t got = in.read(block)) {
    text.append(block, 0, got);
    if (got < block_bytes) {
      EXPECT_EQ(in.read(block), 0u) << "a short read must be the last";
      break;
    }
  }
  return text;
}

struct Unpacked {
  std::string text, packing, damage, error;
  bool operator==(const Unpacked&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Unpacked& got) {
  return out << got.text.size() << " bytes, packing '" << got.packing << "', damage '" << got.damage
             << "', error '" << got.error << "'";
}

Unpacked unpack(std::string_view bytes, std::size_t block_bytes = 4096) {
  try {
    Stream in = Stream::over("sample", bytes);
    std::string text = read_all(in, block_bytes);
    return {std::move(text), in.packing(), in.damage(), ""};
  } catch (const Error& error) {
    return {"", "", "", error.what()};
  }
}

std::string error_of_open(const std::string& path) {
  try {
    Stream::open(path);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// Gives `bytes` to whoever reads the other end, as a shell's pipe does.
class PipeWriter {
 public:
  explicit PipeWriter(std::string bytes) {
    if (::pipe(ends_) != 0) throw std::runtime_error{"no pipe"};
    writer_ = std::thread{[this, bytes = std::move(bytes)] {
      for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t piece = std::min<std::size_t>(bytes.size() - at, 1000);
        const ssize_t count = ::write(ends_[1], bytes.data() + at, piece);
        if (count <= 0) break;
        at += static_cast<std::size_t>(count);
      }
      ::close(ends_[1]);
    }};
  }
  ~PipeWriter() {
    writer_.join();
    ::close(ends_[0]);
  }
  [[nodiscard]] int read_end() const { return ends_[0]; }
  [[nodiscard]] std::string path() const { return "/dev/fd/" + std::to_string(ends_[0]); }

 private:
  int ends_[2];
  std::thread writer_;
};

// Puts `fd` in the place of standard input while it lives.
class StandardInput {
 public:
  explicit StandardInput(int fd) : saved_{::dup(STDIN_FILENO)} { ::dup2(fd, STDIN_FILENO); }
  ~StandardInput() {
    ::dup2(saved_, STDIN_FILENO);
    ::close(saved_);
  }

 private:
  int saved_;
};

struct PackedSample {
  const char* packing;
  std::function<std::string(const std::string&)> pack;
};

const PackedSample kSamples[] = {
    {"", [](const std::string& text) { return text; }},
    {"gzip", [](const std::string& text) { return gzip(text); }},
    {"zstd", [](const std::string& text) { return zstd(text); }},
    {"zip",
     [](const std::string& text) {
       return zip({{"t.json", text}});
     }},
    {"zip",
     [](const std::string& text) {
       return zip({{"t.json", text}}, ZIP_CM_STORE);
     }},
    {"zip+gzip",
     [](const std::string& text) {
       return zip({{"t.json.gz", gzip(text)}});
     }},
    {"gzip+zstd", [](const std::string& text) { return gzip(zstd(text)); }},
    {"zstd+zip+gzip",
     [](const std::string& text) {
       return zstd(zip({{"t", gzip(text)}}));
     }},
};

TEST(Stream, EveryPackingGivesTheTextForEveryReadSize) {
  for (const std::size_t size : {0u, 1u, 3u, 100u, 70'000u, 1'500'000u}) {
    const std::string text = sample_text(size);
    for (const PackedSample& sample : kSamples) {
      const std::string packed = sample.pack(text);
      for (const std::size_t block : {1u, 7u, 65'536u, 2'000'000u}) {
        if (block < 100 && size > 100'000) continue;  // slow, and shows nothing new
        EXPECT_EQ(unpack(packed, block), (Unpacked{text, sample.packing, "", ""}))
            << sample.packing << " of " << size << " bytes read by " << block;
      }
    }
  }
}

TEST(Stream, EveryPackingReadsFromAFileAPipeAndAFifo) {
  const std::string text = sample_text(900'000);
  TemporaryFolder folder;
  for (const PackedSample& sample : kSamples) {
    const std::string packed = sample.pack(text);
    const std::string path = folder.write("packed", packed);
    Stream file = Stream::open(path);
    EXPECT_EQ(file.name(), path);
    EXPECT_EQ(file.packed_bytes(), packed.size());
    EXPECT_EQ(read_all(file), text) << sample.packing;
    EXPECT_EQ(file.packing(), sample.packing);
    EXPECT_EQ(file.damage(), "");
    EXPECT_EQ(file.progress(), 1.0);

    PipeWriter pipe{packed};
    Stream piped = Stream::open(pipe.path());
    EXPECT_EQ(read_all(piped), text) << sample.packing;
    EXPECT_EQ(piped.packed_bytes(), packed.size());

    const std::string fifo = folder.path("fifo");
    ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
    std::thread writer{[&] { (void)folder.write("fifo", packed); }};
    Stream from_fifo = Stream::open(fifo);
    EXPECT_EQ(read_all(from_fifo), text) << sample.packing;
    writer.join();
    ::unlink(fifo.c_str());
  }
}

TEST(Stream, DashIsStandardInput) {
  PipeWriter pipe{gzip("[1,2]")};
  StandardInput redirected{pipe.read_end()};
  Stream in = Stream::open("-");
  EXPECT_EQ(in.name(), "standard input");
  EXPECT_EQ(in.progress(), 0.0);  // the size of a pipe is not known
  EXPECT_EQ(read_all(in), "[1,2]");
}

TEST(Stream, StandardInputThatWasReadBeforeGoesOnFromThere) {
  TemporaryFolder folder;
  const int fd = ::open(folder.write("two", "first line\nsecond").c_str(), O_RDONLY);
  ASSERT_EQ(::lseek(fd, 11, SEEK_SET), 11);
  StandardInput redirected{fd};
  ::close(fd);
  Stream in = Stream::open("-");
  EXPECT_EQ(read_all(in), "second");
}

TEST(Stream, ANonBlockingPipeIsWaitedFor) {
  const std::string text = sample_text(200'000);
  PipeWriter pipe{text};
  ASSERT_EQ(::fcntl(pipe.read_end(), F_SETFL, O_NONBLOCK), 0);
  StandardInput redirected{pipe.read_end()};
  Stream in = Stream::open("-");
  EXPECT_EQ(read_all(in, 1 << 20), text);
}

TEST(Stream, PeekShowsBytesWithoutTakingThem) {
  const std::string text = sample_text(5000);
  for (const PackedSample& sample : kSamples) {
    const std::string packed = sample.pack(text);
    Stream in = Stream::over("sample", packed);
    EXPECT_EQ(in.peek(10), text.substr(0, 10));
    EXPECT_EQ(in.peek(3), text.substr(0, 3));
    EXPECT_EQ(in.peek(4096), text.substr(0, 4096));
    std::string head(100, '\0');
    EXPECT_EQ(in.read(head), 100u);
    EXPECT_EQ(head, text.substr(0, 100));
    EXPECT_EQ(in.peek(5), text.substr(100, 5));
    EXPECT_EQ(in.peek(1'000'000), text.substr(100)) << "the rest, when that is shorter";
    EXPECT_EQ(read_all(in), text.substr(100));
    EXPECT_EQ(in.peek(1), "");
  }
}

TEST(Stream, ThreadsThatUnpackAreAmongThoseAskedFor) {
  const std::string text = sample_text(100'000);
  const auto threads_left = [](std::string_view bytes, int threads, bool hands_out) {
    Stream in = Stream::over("sample", bytes);
    (void)in.peek(1);  // as whoever looks what it is
    in.use_threads(threads);
    if (hands_out) in.hand_out_pieces(threads, 1 << 18);
    return in.threads_left_of(threads);
  };
  for (const int threads : {1, 4, 16}) EXPECT_EQ(threads_left(text, threads, true), threads);
  for (const std::string& packed : {gzip(text), zip({{"a.json", text}})}) {
    EXPECT_EQ(threads_left(packed, 1, false), 1);
    EXPECT_EQ(threads_left(packed, 2, false), 2);
    EXPECT_EQ(threads_left(packed, 4, false), 3);
    EXPECT_EQ(threads_left(packed, 8, false), 5);
    EXPECT_EQ(threads_left(packed, 16, false), 13);
  }
  EXPECT_EQ(threads_left(gzip(text), 8, true), 5);
  EXPECT_EQ(threads_left(gzip(text), 12, true), 8);
  EXPECT_EQ(threads_left(gzip(text), 16, true), 10);
  EXPECT_EQ(threads_left(gzip(text), 64, true), 56);
}

TEST(Stream, ShortMembersAreUnpackedByOneThread) {
  const std::string text = sample_text(200'000), packed = bgzip(text);
  EXPECT_EQ(unpack(packed), (Unpacked{text, "gzip", "", ""}));
  Stream in = Stream::over("sample", packed);
  (void)in.peek(1);
  in.use_threads(16);
  in.hand_out_pieces(16, 1 << 18);
  EXPECT_EQ(in.threads_left_of(16), 16);
  EXPECT_EQ(read_all(in), text);
}

TEST(Stream, OnlyPlainTextIsMapped) {
  guard_mapped_files();
  TemporaryFolder folder;
  EXPECT_EQ(Stream::over("sample", std::string_view{"[]"}).map(), "[]");
  EXPECT_EQ(Stream::open(folder.write("plain.json", "[1]")).map(), "[1]");
  EXPECT_EQ(Stream::open(folder.write("t.json.gz", gzip("[]"))).map(), std::nullopt);
  Stream proc = Stream::open("/proc/self/status");  // a regular file of unknown size
  EXPECT_EQ(proc.map(), std::nullopt);
  EXPECT_THAT(read_all(proc), HasSubstr("Pid:"));
}

// Both ways to the text of a file that another program shortens meanwhile.
TEST(Stream, AFileThatIsShortenedMeanwhileEndsThere) {
  guard_mapped_files();
  TemporaryFolder folder;
  const std::string text = sample_text(100'000);
  const std::string path = folder.write("plain.json", text);
  Stream read = Stream::open(path), mapped = Stream::open(path);
  const std::string_view all = mapped.map().value_or("");
  ASSERT_EQ(all.size(), text.size());
  EXPECT_EQ(all.substr(90'000, 10), text.substr(90'000, 10));
  EXPECT_EQ(mapped.damage(), "");
  EXPECT_EQ(read.peek(10), text.substr(0, 10));
  std::filesystem::resize_file(path, 50'000);
  EXPECT_EQ(read_all(read), text.substr(0, 50'000));
  EXPECT_EQ(read.damage(), "file ends early at byte 50000: it had 100000 when it was opened");
  EXPECT_EQ(all.substr(0, 50'000), text.substr(0, 50'000));
  EXPECT_EQ(all.substr(50'000), std::string(50'000, '\0'));
  EXPECT_THAT(mapped.damage(), HasSubstr("it had 100000 when it was opened"));
  mapped.forget_mapped(0, 100'000);
  EXPECT_EQ(all.substr(0, 50'000), text.substr(0, 50'000)) << "pages come back when needed";
}

TEST(Stream, ErrorsNameTheFileAndTheReason) {
  TemporaryFolder folder;
  const std::string missing = folder.path("missing.json");
  EXPECT_EQ(error_of_open(missing), missing + ": cannot be opened: No such file or directory");
  EXPECT_EQ(error_of_open(folder.path("")),
            folder.path("") + ": is a directory; expected a trace file");
}

TEST(Stream, AFileThatMayNotBeReadIsAnError) {
  TemporaryFolder folder;
  const std::string closed = folder.write("closed.json", "[]");
  ASSERT_EQ(::chmod(closed.c_str(), 0), 0);
  const bool root = ::geteuid() == 0;  // may read everything, so another user has to try
  if (root && ::seteuid(65534) != 0) GTEST_SKIP() << "cannot become a user with fewer rights";
  const std::string error = error_of_open(closed);
  ASSERT_TRUE(!root || ::seteuid(0) == 0);
  EXPECT_EQ(error, closed + ": cannot be opened: Permission denied");
}

TEST(GzipStream, MembersFollowEachOther) {
  const std::string a = sample_text(300'000), b = sample_text(100);
  EXPECT_EQ(unpack(gzip(a) + gzip("") + gzip(b)), (Unpacked{a + b, "gzip", "", ""}));
}

TEST(GzipStream, PaddingAfterTheLastMemberIsPassedOver) {
  for (const std::string& padding :
       {std::string(1, '\0'), std::string(600'000, '\0'), std::string{"\n"}})
    EXPECT_EQ(unpack(gzip("text") + padding), (Unpacked{"text", "gzip", "", ""}));
}

TEST(GzipStream, OtherBytesAfterTheLastMemberAreTold) {
  const std::string packed = gzip("text");
  const std::string at = std::to_string(packed.size() + 2);
  EXPECT_EQ(unpack(packed + std::string(2, '\0') + "garbage \x1f\x8b\x08"),
            (Unpacked{"text", "gzip",
                      "gzip data is followed by something else at packed byte " + at, ""}));
}

TEST(GzipStream, AHeaderMayLieAcrossTwoBlocksOfInput) {
  // The second member starts `before` bytes ahead of the end of the first block of input.
  const std::string second = gzip_with_full_header("second");
  const std::size_t overhead = gzip_with_full_header("").size();
  for (std::size_t before = 0; before < second.size() + 2; ++before) {
    std::string packed, expected;
    std::size_t fill = InputBuffer::kBlockBytes - before;
    while (fill > 0) {
      // Never leaves less for the last member than its overhead.
      const std::size_t member = fill > 60'000 + overhead ? 60'000 : fill;
      const std::string text(member - overhead, static_cast<char>('a' + expected.size() % 26));
      packed += gzip_with_full_header(text);
      expected += text;
      fill -= member;
    }
    ASSERT_EQ(unpack(packed + second), (Unpacked{expected + "second", "gzip", "", ""})) << before;
  }
}

TEST(GzipStream, AWrongChecksumIsToldAfterTheText) {
  std::string packed = gzip("some text");
  packed[packed.size() - 8] ^= 1;
  EXPECT_EQ(unpack(packed), (Unpacked{"some text", "gzip",
                                      "gzip checksum (CRC) mismatch at packed byte " +
                                          std::to_string(packed.size()),
                                      ""}));
}

TEST(GzipStream, DamageKeepsTheTextBeforeItForEveryReadSize) {
  const std::string text = sample_text(400'000);
  std::string packed = gzip(text);
  for (std::size_t i = packed.size() / 2; i < packed.size() / 2 + 64; ++i) packed[i] ^= 0x5a;
  const Unpacked whole = unpack(packed, 1 << 20);
  EXPECT_THAT(whole.damage, StartsWith("gzip "));
  EXPECT_GT(whole.text.size(), text.size() / 3);
  EXPECT_EQ(whole.text.substr(0, text.size() / 3), text.substr(0, text.size() / 3));
  for (const std::size_t block : {1u, 100u, 65'536u})
    EXPECT_EQ(unpack(packed, block).text, whole.text);
}

TEST(ZstdStream, FramesFollowEachOtherAndSkippableOnesAreSkipped) {
  const std::string a = sample_text(300'000), b = sample_text(100);
  const std::string packed = zstd_skippable("note") + zstd(a) + zstd_skippable("") + zstd(b);
  EXPECT_EQ(unpack(packed), (Unpacked{a + b, "zstd", "", ""}));
  EXPECT_EQ(unpack(packed + std::string(100, '\0')), (Unpacked{a + b, "zstd", "", ""}));
}

TEST(ZstdStream, DamageKeepsTheBlocksBeforeItForEveryReadSize) {
  const std::string text = sample_text(1'000'000);  // several blocks of 128 KiB
  std::string packed = zstd(text);
  for (std::size_t i = packed.size() * 3 / 4; i < packed.size(); ++i) packed[i] = '\x7f';
  const Unpacked whole = unpack(packed, 2 << 20);
  EXPECT_THAT(whole.damage, StartsWith("zstd data is damaged near packed byte "));
  EXPECT_GT(whole.text.size(), text.size() / 2);
  EXPECT_THAT(text, StartsWith(whole.text.substr(0, text.size() / 2)));
  for (const std::size_t block : {1u, 100u, 65'536u})
    EXPECT_EQ(unpack(packed, block).text, whole.text);
}

TEST(ZipStream, TakesTheFirstJsonElseTheFirstJsonGzElseTheOnlyFile) {
  EXPECT_EQ(
      unpack(zip({{"readme", "no"}, {"a.json.gz", gzip("no")}, {"B.JSON", "1"}, {"c.json", "2"}}))
          .text,
      "1");
  EXPECT_EQ(
      unpack(zip({{"readme", "no"}, {"a.json.gz", gzip("1")}, {"b.json.gz", gzip("2")}})).text,
      "1");
  EXPECT_EQ(unpack(zip({{"folder/", ""}, {"folder/trace", "1"}, {"__MACOSX/._t.json", "no"}})).text,
            "1");
}

TEST(ZipStream, TracesThatAreNotReadAreRemarkedOn) {
  const std::string two = zip({{"a.json", "1"}, {"readme", "no"}, {"b.json.gz", gzip("2")}});
  EXPECT_EQ(Stream::over("two", two).remark(),
            "of a zip archive with several traces only 'a.json' was read");
  const std::string one = zip({{"a.json", "1"}, {"readme", "no"}});
  EXPECT_EQ(Stream::over("one", one).remark(), "");
}

TEST(ZipStream, AnArchiveWithoutATraceSaysWhatWasExpected) {
  EXPECT_EQ(unpack(zip({{"a.txt", "a"}, {"b.txt", "b"}})).error,
            "sample: zip archive of 2 files; expected one that ends in .json or .json.gz");
  EXPECT_EQ(unpack("PK\x05\x06" + std::string(18, '\0')).error,
            "sample: zip archive of 0 files; expected one that ends in .json or .json.gz");
}

TEST(ZipStream, AnUnknownMethodSaysWhatWasExpected) {
  std::string archive = zip({{"t.json", sample_text(500)}});
  archive[archive.find("PK\x01\x02") + 10] = 14;  // LZMA
  archive[8] = 14;
  EXPECT_EQ(unpack(archive).error,
            "sample: zip member 't.json' is packed by method 14; expected stored, deflate or zstd");
}

TEST(ZipStream, AZstdMemberIsUnpacked) {
  const std::string text = sample_text(500);
  std::string archive = zip({{"t.json", zstd(text)}}, ZIP_CM_STORE);
  const std::size_t entry = archive.find("PK\x01\x02");
  const std::uint32_t crc = crc_with(0, text);
  for (const std::size_t method : {std::size_t{8}, entry + 10}) archive[method] = 93;
  archive.replace(14, 4, little_endian(crc, 4));
  archive.replace(entry + 16, 4, little_endian(crc, 4));
  EXPECT_EQ(unpack(archive), (Unpacked{text, "zip", "", ""}));
}

TEST(ZipStream, AWrongChecksumIsToldAfterTheText) {
  std::string archive = zip({{"t.json", "[1,2,3]"}}, ZIP_CM_STORE);
  archive[archive.find("[1,2,3]") + 1] = '9';
  EXPECT_EQ(unpack(archive),
            (Unpacked{"[9,2,3]", "zip", "checksum (CRC) mismatch of zip member 't.json'", ""}));
}

TEST(Stream, FourPackingsAreTooMany) {
  EXPECT_EQ(unpack(gzip(gzip(gzip("x")))).packing, "gzip+gzip+gzip");
  EXPECT_EQ(unpack(gzip(gzip(gzip(gzip("x"))))).error,
            "sample: packed more than 3 times (gzip+gzip+gzip+gzip)");
}

TEST(Stream, ACutGivesTheTextBeforeItAndSaysSo) {
  const std::string text = sample_text(700);
  const std::string half = text.substr(0, 350);
  const std::string gzip_members = gzip(half) + gzip(text.substr(350));
  const std::string zstd_frames = zstd(half) + zstd_skippable("note") + zstd(text.substr(350));
  for (const std::string& packed : {gzip_members, gzip_with_full_header(text), zstd(text),
                                    zstd_frames, gzip(zstd(text)), zstd(gzip(text))}) {
    const Unpacked whole = unpack(packed);
    ASSERT_EQ(whole.text, text);
    for (std::size_t cut = kSniffBytes; cut < packed.size(); ++cut) {
      const Unpacked got = unpack(packed.substr(0, cut), 64);
      ASSERT_EQ(got.error, "");
      // So little of an inner packing that it was not recognised is given out as it is.
      if (got.packing == whole.packing) {
        ASSERT_THAT(text, StartsWith(got.text)) << cut;
      } else {
        ASSERT_LT(got.text.size(), kSniffBytes) << cut;
      }
      // A cut between two members or frames cannot be told from the end.
      const bool between = got.text == half && got.damage.empty();
      if (between) continue;
      ASSERT_THAT(got.damage, HasSubstr(" data ends early at packed byte ")) << cut;
    }
  }
  EXPECT_EQ(unpack(gzip_members.substr(0, gzip_members.size() - 1)).damage,
            "gzip data ends early at packed byte " + std::to_string(gzip_members.size() - 1));
}

TEST(Stream, ACutZipIsAnErrorBecauseItsDirectoryIsLost) {
  const std::string packed = zip({{"t.json", sample_text(700)}});
  for (std::size_t cut = kSniffBytes; cut < packed.size(); ++cut)
    ASSERT_THAT(unpack(packed.substr(0, cut)).error,
                StartsWith("sample: zip archive is cut or damaged: "))
        << cut;
}

TEST(Stream, AnyFlippedByteGivesTheSameTextForEveryReadSize) {
  const std::string text = sample_text(300);
  for (const PackedSample& sample : kSamples) {
    const std::string packed = sample.pack(text);
    for (std::size_t at = 0; at < packed.size(); ++at) {
      for (const char flip : {'\x01', '\x80', '\xff'}) {
        std::string damaged = packed;
        damaged[at] ^= flip;
        const Unpacked slow = unpack(damaged, 1), fast = unpack(damaged, 4096);
        ASSERT_EQ(slow.text, fast.text) << sample.packing << " byte " << at;
        ASSERT_EQ(slow.error, fast.error) << sample.packing << " byte " << at;
        ASSERT_EQ(slow.damage.empty(), fast.damage.empty()) << sample.packing << " byte " << at;
      }
    }
  }
}

}  // namespace
}  // namespace tracelens::io
