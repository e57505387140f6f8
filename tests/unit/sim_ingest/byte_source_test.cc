#include "sim/ingest/byte_source.h"

#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <string>
#include <vector>

#include "sim/ingest/line_reader.h"
#include "tests/unit/sim_ingest/ingest_fixtures.h"

namespace sm89 {
namespace {

using testing::FactOf;

std::string Gzip(const std::string& text) {
  z_stream stream = {};
  EXPECT_EQ(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  EXPECT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Xz(const std::string& text, uint32_t dict_bytes = 1 << 20) {
  lzma_options_lzma options;
  lzma_lzma_preset(&options, 1);
  options.dict_size = dict_bytes;
  const lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  std::string out(lzma_stream_buffer_bound(text.size()), '\0');
  size_t size = 0;
  EXPECT_EQ(lzma_stream_buffer_encode(const_cast<lzma_filter*>(filters), LZMA_CHECK_CRC64, nullptr,
                                      reinterpret_cast<const uint8_t*>(text.data()), text.size(),
                                      reinterpret_cast<uint8_t*>(out.data()), &size, out.size()),
            LZMA_OK);
  out.resize(size);
  return out;
}

std::string Zstd(const std::string& text, int window_log = 0) {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  if (window_log != 0) {
    ZSTD_CCtx_setParameter(context, ZSTD_c_windowLog, window_log);
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
  }
  std::string out(ZSTD_compressBound(text.size()), '\0');
  ZSTD_outBuffer to = {out.data(), out.size(), 0};
  ZSTD_inBuffer from = {text.data(), text.size(), 0};
  // In two steps, so that the window is not shrunk to the input.
  ZSTD_compressStream2(context, &to, &from, ZSTD_e_continue);
  EXPECT_EQ(ZSTD_compressStream2(context, &to, &from, ZSTD_e_end), 0u);
  out.resize(to.pos);
  ZSTD_freeCCtx(context);
  return out;
}

class ByteSourceTest : public testing::IngestTest {
 protected:
  // All bytes, or the error; what was read before it is in text_.
  absl::Status Read(const std::string& name, const std::string& bytes) {
    const std::string path = Write(name, bytes);
    text_.clear();
    IngestContext context(options_);
    auto file = InputFile::OpenPath(path);
    if (!file.ok()) return file.status();
    const auto source = OpenByteSource(std::move(*file), context);
    if (!source.ok()) return source.status();
    char part[1000];
    while (true) {
      const auto got = (*source)->Read(part, sizeof(part));
      if (!got.ok()) return got.status();
      if (*got == 0) return absl::OkStatus();
      text_.append(part, *got);
    }
  }
  static std::string LongText() {
    std::string text;
    for (int i = 0; i < 40000; ++i)
      text.append("line ").append(std::to_string(i * 7919 % 10007)).append("\n");
    return text;
  }

  std::string text_;
};

TEST_F(ByteSourceTest, EveryPackingGivesTheSameBytes) {
  const std::string text = LongText();
  for (const auto& [name, bytes] : {std::pair<std::string, std::string>{"a.traceg", text},
                                    {"a.traceg.gz", Gzip(text)},
                                    {"a.traceg.xz", Xz(text)},
                                    {"a.traceg.zst", Zstd(text)},
                                    {"no-suffix", Xz(text)}}) {
    ASSERT_TRUE(Read(name, bytes).ok()) << name;
    EXPECT_EQ(text_, text) << name;
  }
}

TEST_F(ByteSourceTest, StreamsOneBehindAnotherAreOne) {
  ASSERT_TRUE(Read("a.gz", Gzip("one\n") + Gzip("two\n")).ok());
  EXPECT_EQ(text_, "one\ntwo\n");
  ASSERT_TRUE(Read("a.xz", Xz("one\n") + Xz("two\n")).ok());
  EXPECT_EQ(text_, "one\ntwo\n");
  ASSERT_TRUE(Read("a.zst", Zstd("one\n") + Zstd("two\n")).ok());
  EXPECT_EQ(text_, "one\ntwo\n");
}

TEST_F(ByteSourceTest, AStreamThatEndsEarlyIsTruncated) {
  const std::string text = LongText();
  for (const auto& [name, bytes] :
       {std::pair<std::string, std::string>{"a.gz", Gzip(text)}, {"a.xz", Xz(text)}, {"a.zst", Zstd(text)}}) {
    for (const size_t cut : {size_t{1}, bytes.size() / 2, bytes.size() - 20}) {
      const absl::Status status = Read(name, bytes.substr(0, bytes.size() - cut));
      ASSERT_EQ(status.code(), absl::StatusCode::kDataLoss) << name << " " << status;
      EXPECT_EQ(FaultsOf(status)[0].file, name);
      EXPECT_TRUE(text.starts_with(text_)) << name;
    }
  }
}

TEST_F(ByteSourceTest, DamageIsNotTakenForTruncation) {
  const std::string text = LongText();
  for (auto [name, bytes] :
       {std::pair<std::string, std::string>{"a.gz", Gzip(text)}, {"a.xz", Xz(text)}, {"a.zst", Zstd(text)}}) {
    for (size_t i = bytes.size() / 2; i < bytes.size() / 2 + 40; ++i) bytes[i] = static_cast<char>(~bytes[i]);
    const absl::Status status = Read(name, bytes);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << name << " " << status;
    EXPECT_NE(FactOf(status, "corrupt"), "(no fact corrupt)");
  }
}

TEST_F(ByteSourceTest, NamesThatPromiseAnotherPackingAreRefused) {
  for (const char* name : {"a.gz", "a.xz", "a.zst"}) {
    EXPECT_EQ(Read(name, "plain text").code(), absl::StatusCode::kInvalidArgument) << name;
  }
  EXPECT_EQ(Read("a.gz", Xz("text")).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ByteSourceTest, DecoderMemoryIsBounded) {
  const absl::Status xz = Read("a.xz", Xz("text", 1u << 30));
  EXPECT_EQ(xz.code(), absl::StatusCode::kResourceExhausted) << xz;
  const absl::Status zstd = Read("a.zst", Zstd("text", 30));
  EXPECT_EQ(zstd.code(), absl::StatusCode::kResourceExhausted) << zstd;
}

TEST_F(ByteSourceTest, UnpackedBytesAreBounded) {
  options_.max_unpacked_bytes = 100'000;
  const std::string bomb = Gzip(std::string(10'000'000, '\n'));
  ASSERT_LT(bomb.size(), 20'000u);
  const absl::Status status = Read("a.gz", bomb);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(FactOf(status, "limit_bytes"), "100000");
  EXPECT_LE(text_.size(), 100'000u);
}

TEST_F(ByteSourceTest, CancellationStopsTheNextRefill) {
  std::atomic<bool> cancel{true};
  options_.cancel = &cancel;
  EXPECT_EQ(Read("a.gz", Gzip("text")).code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(Read("a", "text").code(), absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace sm89
