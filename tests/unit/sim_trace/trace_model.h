// A trace as plain values, a random generator of such traces, and the two directions of a round trip.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "sim/base/status_macros.h"
#include "sim/trace/compact_reader.h"
#include "sim/trace/compact_writer.h"

namespace sm89::testing {

struct ModelInst {
  uint32_t id = 0;  // of ModelKernel::statics
  LaneMask mask = 0;
  std::vector<uint64_t> addresses;
};
struct ModelWarp {
  uint32_t warp = 0;
  std::vector<ModelInst> insts;
};
struct ModelCta {
  Dim3 id;
  std::vector<ModelWarp> warps;
};
struct ModelKernel {
  KernelInfo info;
  std::vector<StaticInst> statics;  // pairwise different
  std::vector<ModelCta> ctas;
};
struct ModelTrace {
  std::vector<ModelKernel> kernels;
  TraceSetInfo set;  // kernels excepted
};

inline std::string TempPath(const std::string& name) {
  return ::testing::TempDir() + "sm89_" + std::to_string(getpid()) + "_" + name;
}

inline std::string ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

inline void WriteFile(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

inline StaticInst Static(uint32_t pc, const std::string& opcode) {
  StaticInst inst;
  inst.pc = pc;
  inst.opcode = opcode;
  return inst;
}

// A kernel of `ctas` thread blocks in a row with `warps` warps each, without instructions yet.
inline ModelKernel SmallKernel(uint32_t ctas, uint32_t warps) {
  ModelKernel k;
  k.info.name = std::string("_Z6kernelPf");
  k.info.file = std::string("kernel-1.traceg");
  k.info.id = 1;
  k.info.grid = {ctas, 1, 1};
  k.info.block = {32 * warps, 1, 1};
  k.info.binary_version = 89;
  k.info.tracer_version = std::string("5");
  for (uint32_t c = 0; c < ctas; ++c) {
    ModelCta cta{.id = {c, 0, 0}};
    for (uint32_t w = 0; w < warps; ++w) cta.warps.push_back({.warp = w});
    k.ctas.push_back(std::move(cta));
  }
  return k;
}

// Random traces with divergence, gathers, negative strides, huge addresses, empty and absent warps.
class TraceGenerator {
 public:
  explicit TraceGenerator(uint64_t seed) : random_(seed) {}

  ModelTrace Make(bool long_warps) {
    ModelTrace trace;
    const uint32_t kernels = Below(4) + 1;
    for (uint32_t k = 0; k < kernels; ++k) {
      trace.kernels.push_back(MakeKernel(k, long_warps));
      trace.set.commands.push_back(
          {.kind = CommandKind::kMemcpyHtoD, .address = Next(), .bytes = Next(), .line = k});
      trace.set.commands.push_back({.kind = CommandKind::kKernel, .kernel = k, .line = k + 100});
    }
    trace.set.name = "random";
    trace.set.commands.push_back({.kind = CommandKind::kIgnored, .line = 9, .text = "Memset,1"});
    trace.set.marks.push_back({"allow_partial", "1 of 2 thread blocks", 1});
    trace.set.warnings.push_back({"lanes_after_exit", "kernel-1.traceg:7: lanes ran on"});
    return trace;
  }

 private:
  uint64_t Next() { return random_(); }
  uint32_t Below(uint32_t limit) { return static_cast<uint32_t>(random_() % limit); }
  bool OneIn(uint32_t n) { return Below(n) == 0; }

  ModelKernel MakeKernel(uint32_t number, bool long_warps) {
    ModelKernel k = SmallKernel(0, Below(8) + 1);
    k.info.id = number + 1;
    k.info.name = std::string("name \xff\x80,\"") + std::to_string(number);
    k.info.grid = {Below(5) + 1, Below(3) + 1, Below(3) + 1};
    k.info.shmem_base = Next();
    k.info.complete = !OneIn(3);
    k.info.warps_past_exit = Below(4);
    k.statics = MakeStatics();
    const uint32_t warps = k.info.block.x / 32;
    for (uint32_t z = 0; z < k.info.grid.z; ++z) {
      for (uint32_t y = 0; y < k.info.grid.y; ++y) {
        for (uint32_t x = 0; x < k.info.grid.x; ++x) {
          if (!OneIn(8)) k.ctas.push_back(MakeCta({x, y, z}, warps, k.statics, long_warps));
        }
      }
    }
    if (OneIn(4)) std::reverse(k.ctas.begin(), k.ctas.end());
    return k;
  }

  std::vector<StaticInst> MakeStatics() {
    std::vector<StaticInst> statics;
    const uint32_t count = Below(200) + 2;
    for (uint32_t i = 0; i < count; ++i) {
      StaticInst s = Static(OneIn(10) ? 16 * Below(count) : 16 * i, "OP" + std::to_string(i));
      s.num_dests = static_cast<uint8_t>(Below(kMaxDests + 1));
      s.num_sources = static_cast<uint8_t>(Below(kMaxSources + 1));
      for (int d = 0; d < s.num_dests; ++d)
        s.dests[d] = {static_cast<RegFile>(Below(4)), static_cast<uint8_t>(Next())};
      for (int d = 0; d < s.num_sources; ++d)
        s.sources[d] = {RegFile::kGeneral, static_cast<uint8_t>(Next())};
      s.declared_width_bytes = static_cast<uint8_t>(Below(17));
      s.has_immediate = OneIn(2);
      s.immediate = static_cast<int64_t>(Next());
      s.source_line = Below(1000);
      s.has_encoding = OneIn(3);
      if (s.has_encoding) s.encoding.fill(static_cast<uint8_t>(Next()));
      statics.push_back(s);
    }
    return statics;
  }

  ModelCta MakeCta(const Dim3& id, uint32_t warps, const std::vector<StaticInst>& statics, bool long_warps) {
    ModelCta cta{.id = id};
    for (uint32_t w = 0; w < warps; ++w) {
      if (OneIn(8)) continue;  // absent
      ModelWarp warp{.warp = w};
      const uint32_t length = OneIn(8) ? 0 : Below(long_warps && OneIn(3) ? 12'000 : 300);
      uint32_t at = 0;
      for (uint32_t i = 0; i < length; ++i) {
        at = OneIn(20) ? Below(static_cast<uint32_t>(statics.size())) : (at + 1) % statics.size();
        warp.insts.push_back(MakeInst(at));
      }
      cta.warps.push_back(std::move(warp));
    }
    if (OneIn(5)) std::reverse(cta.warps.begin(), cta.warps.end());
    return cta;
  }

  ModelInst MakeInst(uint32_t id) {
    if (OneIn(30)) mask_ = OneIn(2) ? ~LaneMask{0} : static_cast<LaneMask>(Next());
    ModelInst inst{.id = id, .mask = OneIn(20) ? 0 : mask_};
    const int lanes = std::popcount(inst.mask);
    if (lanes == 0 || id % 5 != 0) return inst;
    const uint32_t kind = Below(8);
    const uint64_t base = kind < 5 ? 0x7f0000000000 + id * 4096 + 128 * step_++ : Next();
    const uint64_t stride = kind < 5 ? 4 : (kind == 5 ? uint64_t{0} - Below(64) : Next());
    for (int lane = 0; lane < lanes; ++lane) {
      inst.addresses.push_back(kind == 7 ? Next() >> Below(64) : base + stride * static_cast<uint64_t>(lane));
    }
    return inst;
  }

  std::mt19937_64 random_;
  LaneMask mask_ = ~LaneMask{0};
  uint64_t step_ = 0;
};

inline ModelTrace RandomTrace(uint64_t seed, bool long_warps) {
  return TraceGenerator(seed).Make(long_warps);
}

inline absl::Status WriteKernel(const ModelKernel& kernel, CompactWriter* writer) {
  RETURN_IF_ERROR(writer->BeginKernel(kernel.info));
  std::vector<uint32_t> ids(kernel.statics.size(), UINT32_MAX);
  for (const ModelCta& cta : kernel.ctas) {
    RETURN_IF_ERROR(writer->BeginCta(cta.id));
    for (const ModelWarp& warp : cta.warps) {
      RETURN_IF_ERROR(writer->BeginWarp(warp.warp));
      for (const ModelInst& inst : warp.insts) {
        if (ids[inst.id] == UINT32_MAX) ids[inst.id] = writer->AddStatic(kernel.statics[inst.id]);
        RETURN_IF_ERROR(writer->Add({ids[inst.id], inst.mask, inst.addresses}));
      }
      RETURN_IF_ERROR(writer->EndWarp());
    }
    RETURN_IF_ERROR(writer->EndCta());
  }
  return writer->EndKernel(kernel.info);
}

inline absl::StatusOr<WrittenTrace> Write(const ModelTrace& trace, const std::string& path) {
  ASSIGN_OR_RETURN(const std::unique_ptr<CompactWriter> writer, CompactWriter::Create(path));
  for (const ModelKernel& kernel : trace.kernels) RETURN_IF_ERROR(WriteKernel(kernel, writer.get()));
  return writer->Finish(trace.set);
}

inline void ExpectSameWarp(const ModelKernel& kernel, const ModelWarp& warp,
                           std::span<const StaticInst> table, const CtaTrace& cta) {
  ASSERT_EQ(cta.warp_instructions(warp.warp), warp.insts.size());
  const std::unique_ptr<WarpCursor> cursor = cta.OpenWarp(warp.warp);
  ASSERT_EQ(cursor == nullptr, warp.insts.empty());
  if (cursor == nullptr) return;
  DynInst got;
  uint64_t left = warp.insts.size();
  for (const ModelInst& want : warp.insts) {
    ASSERT_EQ(cursor->remaining(), left--);
    ASSERT_TRUE(cursor->Next(&got)) << cursor->status();
    ASSERT_LT(got.static_id, table.size());
    ASSERT_EQ(table[got.static_id], kernel.statics[want.id]);
    ASSERT_EQ(got.mask, want.mask);
    ASSERT_EQ(got.shape == nullptr, want.addresses.empty());
    if (got.shape == nullptr) continue;
    ASSERT_EQ(got.shape->mask, want.mask);
    ASSERT_EQ(got.shape->offsets.size(), want.addresses.size());
    for (size_t i = 0; i < want.addresses.size(); ++i) {
      ASSERT_EQ(got.base + got.shape->offsets[i], want.addresses[i]);
      if (got.shape->strided) {
        ASSERT_EQ(got.shape->offsets[i], i * static_cast<uint64_t>(got.shape->stride));
      }
    }
  }
  EXPECT_EQ(cursor->remaining(), 0u);
  EXPECT_FALSE(cursor->Next(&got));
  EXPECT_TRUE(cursor->status().ok()) << cursor->status();
}

// Compares everything that the reader gives with the model.
inline void ExpectSame(const ModelTrace& trace, CompactReader* reader) {
  EXPECT_EQ(reader->info().name, trace.set.name);
  EXPECT_EQ(reader->info().commands, trace.set.commands);
  EXPECT_EQ(reader->info().marks, trace.set.marks);
  EXPECT_EQ(reader->info().warnings, trace.set.warnings);
  ASSERT_EQ(reader->info().kernels.size(), trace.kernels.size());
  for (uint32_t k = 0; k < trace.kernels.size(); ++k) {
    const ModelKernel& kernel = trace.kernels[k];
    KernelInfo want = kernel.info;
    want.num_ctas = kernel.ctas.size();
    for (const ModelCta& cta : kernel.ctas) {
      for (const ModelWarp& warp : cta.warps) {
        want.warp_instructions += warp.insts.size();
        for (const ModelInst& inst : warp.insts) {
          want.thread_instructions += static_cast<uint64_t>(std::popcount(inst.mask));
          want.masked_off_instructions += inst.mask == 0 ? 1 : 0;
        }
      }
    }
    EXPECT_EQ(reader->info().kernels[k], want);
    ASSERT_EQ(reader->NumCtas(k), kernel.ctas.size());
    const std::span<const StaticInst> table = reader->StaticTable(k);
    for (size_t i = 1; i < table.size(); ++i) EXPECT_LE(table[i - 1].pc, table[i].pc);
    for (uint64_t c = 0; c < kernel.ctas.size(); ++c) {
      const auto cta = reader->OpenCta(k, c);
      ASSERT_TRUE(cta.ok()) << cta.status();
      EXPECT_EQ((*cta)->id(), kernel.ctas[c].id);
      EXPECT_EQ(reader->CtaId(k, c), kernel.ctas[c].id);
      EXPECT_EQ((*cta)->num_warps(), kernel.info.block.x / 32);
      std::vector<bool> present((*cta)->num_warps(), false);
      for (const ModelWarp& warp : kernel.ctas[c].warps) {
        present[warp.warp] = true;
        ExpectSameWarp(kernel, warp, table, **cta);
        if (::testing::Test::HasFatalFailure()) return;
      }
      for (uint32_t w = 0; w < present.size(); ++w) {
        EXPECT_TRUE(present[w] || (*cta)->OpenWarp(w) == nullptr) << "warp " << w << " is absent";
      }
    }
  }
}

}  // namespace sm89::testing
