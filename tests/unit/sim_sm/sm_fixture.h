// Drives one SM on hand-made code and tells in which cycle each instruction issued. The SM is observed from
// outside: a warp asks its cursor for the next instruction in the cycle in which the one before it issues.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "sim/sm/sm.h"
#include "sim/stats/pc_profile.h"

namespace sm89::testing {

// One executed instruction: its static part and what the trace says of it. Each is a static instruction of
// its own, 16 bytes behind the one before it unless At says otherwise.
struct Inst {
  static constexpr uint32_t kNextPc = ~0u;

  SmInst code;
  LaneMask mask = ~LaneMask{0};
  std::vector<uint64_t> addresses;  // one a lane of `mask`
  uint32_t pc = kNextPc;

  Inst& Stall(uint32_t cycles) {
    code.bits.stall_cycles = static_cast<uint8_t>(cycles);
    return *this;
  }
  Inst& Yield() {
    code.bits.yield = true;
    return *this;
  }
  Inst& Write(uint32_t counter) {
    code.bits.write_counter = static_cast<uint8_t>(counter);
    return *this;
  }
  Inst& Read(uint32_t counter) {
    code.bits.read_counter = static_cast<uint8_t>(counter);
    return *this;
  }
  Inst& Wait(uint32_t counters) {
    code.bits.wait_mask = static_cast<uint8_t>(counters);
    return *this;
  }
  Inst& Reuse(uint32_t slots) {
    code.bits.reuse_mask = static_cast<uint8_t>(slots);
    return *this;
  }
  // General registers of operand slots A, B, C; -1 = none. `count` registers from each on.
  Inst& Reads(int a, int b = -1, int c = -1, uint32_t count = 1) {
    const std::array<int, 3> regs{a, b, c};
    for (size_t s = 0; s < 3; ++s) {
      if (regs[s] < 0) continue;
      code.slots[s] = {RegFile::kGeneral, static_cast<uint8_t>(regs[s]), static_cast<uint8_t>(count)};
    }
    return *this;
  }
  Inst& Result(uint32_t reg) {
    code.result = {RegFile::kGeneral, static_cast<uint8_t>(reg), 1};
    return *this;
  }
  Inst& Constant(uint32_t offset, uint32_t bank = 0) {
    code.constant_bank = static_cast<uint8_t>(bank);
    code.constant_offset = offset;
    return *this;
  }
  Inst& At(uint32_t address) {
    pc = address;
    return *this;
  }
  Inst& Clock() {
    code.reads_clock = true;
    return *this;
  }
};

using Program = std::vector<Inst>;

// No operands, no pipe: one issue slot.
inline Inst Nop() {
  Inst inst;
  inst.code.bits.stall_cycles = 1;
  inst.code.latency_cycles = 1;
  inst.code.counter = &SmStats::inst_misc;
  return inst;
}
inline Inst Control(ControlOp op) {
  Inst inst = Nop();
  inst.code.control = op;
  return inst;
}
inline Inst Fixed(Pipe pipe, uint32_t latency, uint32_t interval) {
  Inst inst = Nop();
  inst.code.path = IssuePath::kFixed;
  inst.code.pipe = pipe;
  inst.code.latency_cycles = static_cast<uint16_t>(latency);
  inst.code.interval_cycles = static_cast<uint16_t>(interval);
  return inst;
}
inline Inst Fp32() { return Fixed(Pipe::kEither, 4, 2); }
inline Inst Int() { return Fixed(Pipe::kLite, 4, 2); }  // on Ada: one of the FP32 half-pipes
inline Inst Imad() { return Fixed(Pipe::kFma, 4, 2); }
inline Inst Variable(Pipe pipe, uint32_t latency, uint32_t interval) {
  Inst inst = Fixed(pipe, latency, interval);
  inst.code.path = IssuePath::kVariable;
  return inst;
}

inline std::vector<uint64_t> Strided(uint64_t base, uint64_t stride, uint32_t lanes = 32) {
  std::vector<uint64_t> addresses(lanes);
  for (uint32_t l = 0; l < lanes; ++l) addresses[l] = base + l * stride;
  return addresses;
}

inline constexpr uint64_t kGlobal = 0x7f4c80000000;

// A memory instruction of `width` bytes a lane, neighbouring lanes side by side.
inline Inst Memory(MemOp op, MemSpace space, uint32_t width, uint64_t base) {
  Inst inst = Nop();
  inst.code.unit = ExecUnit::kMem;
  inst.code.path = IssuePath::kMemory;
  inst.code.space = space;
  inst.code.mem_op = op;
  inst.code.width_bytes = static_cast<uint8_t>(width);
  inst.code.long_latency = space != MemSpace::kShared;
  inst.code.counter = space == MemSpace::kShared ? &SmStats::inst_mem_shared : &SmStats::inst_mem_global;
  inst.addresses = Strided(base, width);
  return inst;
}
inline Inst Ldg(uint32_t width = 4, uint64_t base = kGlobal) {
  return Memory(MemOp::kLoad, MemSpace::kGlobal, width, base);
}
inline Inst Stg(uint32_t width = 4, uint64_t base = kGlobal) {
  return Memory(MemOp::kStore, MemSpace::kGlobal, width, base);
}
inline Inst Lds(uint32_t width = 4, uint64_t base = 0) {
  return Memory(MemOp::kLoad, MemSpace::kShared, width, base);
}
inline Inst Sts(uint32_t width = 4, uint64_t base = 0) {
  return Memory(MemOp::kStore, MemSpace::kShared, width, base);
}
inline Inst Ldgsts(uint32_t width = 4, uint64_t base = kGlobal) {
  return Memory(MemOp::kLoadToShared, MemSpace::kGlobal, width, base);
}
inline Inst Uniform(Inst inst) {
  inst.code.uniform_address = true;
  return inst;
}

inline Inst Ldgdepbar(uint32_t counter) {
  Inst inst = Control(ControlOp::kLdgDepbar).Write(counter);
  inst.code.long_latency = true;
  return inst;
}
// DEPBAR.LE SBcounter, allowed, {list}
inline Inst Depbar(uint32_t counter, int64_t allowed, uint32_t list = 0) {
  Inst inst = Control(ControlOp::kDepbar);
  inst.code.depbar_counter = static_cast<uint8_t>(counter);
  inst.code.immediate = allowed;
  inst.code.depbar_mask = static_cast<uint8_t>(list);
  return inst;
}
inline Inst Barrier(uint32_t number = 0, uint32_t warps = 0) {
  Inst inst = Control(ControlOp::kBarrier);
  inst.code.barrier = static_cast<uint8_t>(number);
  inst.code.barrier_warps = static_cast<uint16_t>(warps);
  return inst;
}
inline Inst Arrive(uint32_t number = 0, uint32_t warps = 0) {
  Inst inst = Barrier(number, warps);
  inst.code.arrives_only = true;
  return inst;
}
inline Inst Membar(Scope scope) {
  Inst inst = Control(ControlOp::kMembar);
  inst.code.scope = scope;
  return inst;
}
inline Inst Nanosleep(int64_t ns) {
  Inst inst = Control(ControlOp::kNanosleep);
  inst.code.immediate = ns;
  return inst;
}

inline Program Repeat(const Inst& inst, size_t times) { return Program(times, inst); }
inline Program operator+(Program a, const Program& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

// The figures that the tests are written in, whatever the presets are calibrated to.
inline GpuConfig ModelConfig() {
  GpuConfig config;
  FrontEndConfig& front = config.front;
  front.ibuffer_entries = 3;
  front.fetch_decode_cycles = 2;
  front.l0_miss_cycles = 78;
  front.l1_miss_cycles = 240;
  front.l0_fill_interval_cycles = 1;
  front.branch_redirect_cycles = 10;
  front.convergence_cycles = 13;
  ConstantConfig& constant = config.constant;
  constant.l0_miss_cycles = 11;
  constant.l1_miss_cycles = 79;
  constant.miss_switch_cycles = 4;
  L1Config& l1 = config.l1;
  l1.latency_cycles = 36;
  l1.shmem_latency_cycles = 24;
  l1.ldgsts_latency_cycles = 39;
  l1.request_interval_cycles = 2;
  l1.queue_entries = 4;
  l1.address_cycles = 4;
  l1.uniform_address_cycles = l1.shmem_address_cycles = 2;
  l1.fill_cycles = 12;
  l1.wide_load_cycles = 2;
  l1.shmem_wide_load_cycles = 1;
  l1.ldsm_matrix_cycles = 2;
  l1.shmem_atomic_latency_cycles = 6;
  l1.shuffle_interval_cycles = 2;
  l1.barrier_cycles = 12;
  l1.barrier_arrival_cycles = 2;
  l1.membar_cta_cycles = 53;
  l1.membar_gpu_cycles = 186;
  l1.membar_sys_cycles = 2900;
  return config;
}

// Those with everything in the instruction buffers: a warp's first instruction issues two cycles after its
// CTA was launched.
inline GpuConfig LabConfig() {
  GpuConfig config = ModelConfig();
  config.front.perfect_icache = true;
  return config;
}

class SmLab {
 public:
  static constexpr Cycle kNoReply = kNever;

  explicit SmLab(const GpuConfig& config = LabConfig()) : config_(config), sm_(config, 0) {
    for (int i = 0; i < 2; ++i) profiles_.push_back(std::make_unique<PcProfile>(kMaxStatics));
    sm_.set_profiles(&profiles_);
  }

  // A CTA of kernel `kernel` whose warp w executes programs[w]; an empty program is an absent warp. Returns
  // the CTA's number.
  size_t Launch(const std::vector<Program>& programs, Cycle at = 0, uint32_t kernel = 0) {
    auto code = std::make_unique<KernelCode>();
    code->code_base = uint64_t{kernel} << 32;
    logs_.push_back(std::make_unique<CtaLog>());
    CtaLog& log = *logs_.back();
    log.warps.resize(programs.size());
    for (size_t w = 0; w < programs.size(); ++w) Place(programs[w], code.get(), &log.warps[w]);
    EXPECT_LE(code->insts.size(), kMaxStatics);
    CtaLaunch launch;
    launch.kernel = kernel;
    launch.code = code.get();
    launch.at = at;
    launch.needs.warps = static_cast<uint32_t>(programs.size());
    launch.needs.threads = launch.needs.warps * kWarpSize;
    launch.trace = std::make_unique<Trace>(this, &log);
    EXPECT_TRUE(sm_.CanHost(launch.needs));
    sm_.Launch(std::move(launch));
    codes_.push_back(std::move(code));
    return logs_.size() - 1;
  }
  // All programs in sub-core 0, the last one the youngest.
  size_t LaunchInOneSubCore(const std::vector<Program>& programs, Cycle at = 0) {
    std::vector<Program> warps;
    for (const Program& program : programs) {
      warps.resize((warps.size() + 3) / 4 * 4);
      warps.push_back(program);
    }
    return Launch(warps, at);
  }

  // Every request is answered so many cycles after it left.
  void set_reply_latency(Cycle cycles) { reply_latency_ = cycles; }
  // ... but that of this line, which is answered in this cycle.
  void ReplyAt(uint64_t address, Cycle cycle) { scripted_.push_back({address / kLineBytes, cycle}); }

  // Runs until every CTA is done or `end`, in windows of `window` cycles. Issue cycles are exact when it
  // is 1.
  void Run(Cycle end = 10'000'000, Cycle window = 1) {
    exact_ = exact_ && window == 1;
    while (now_ < end && !sm_.idle()) {
      Cycle next = sm_.NextEvent(now_);
      if (!inbox_.empty()) next = std::min(next, inbox_.front().cycle);
      if (window == 1) now_ = std::clamp(next, now_, end - 1);  // idle cycles are passed over
      const Cycle border = std::min(end, now_ + window);
      sm_.Run(now_, border, &inbox_);
      now_ = border;
      for (const MemRequest& request : sm_.outbox()) Answer(request);
      sm_.outbox().clear();
      for (const ClockSample& sample : sm_.clock_samples()) samples_.push_back(sample);
      sm_.clock_samples().clear();
      for (const FinishedCta& cta : sm_.finished()) finished_.push_back(cta.cycle);
      sm_.finished().clear();
    }
  }

  // Issue cycles of warp `warp` of CTA `cta`, in program order.
  std::vector<Cycle> Issued(size_t warp = 0, size_t cta = 0) const {
    EXPECT_TRUE(exact_) << "windows of one cycle";
    return logs_[cta]->warps[warp].issued;
  }
  std::vector<Cycle> IssuedInOneSubCore(size_t program) const { return Issued(4 * program); }

  SmStats Stats(Cycle now, uint32_t kernel = 0) const { return AllStats(now, kernel).sm; }
  SmStats Stats() const { return Stats(now_); }
  SimStats AllStats(Cycle now, uint32_t kernel = 0) const {
    SimStats stats;
    sm_.AddStats(kernel, now, &stats);
    return stats;
  }
  // By static instruction: those of warp 0, then those of warp 1 ...
  const PcProfile& profile(uint32_t kernel = 0) const { return *profiles_[kernel]; }
  const Sm& sm() const { return sm_; }
  Cycle now() const { return now_; }
  const std::vector<MemRequest>& requests() const { return requests_; }
  const std::vector<ClockSample>& samples() const { return samples_; }
  const std::vector<Cycle>& finished() const { return finished_; }

 private:
  static constexpr size_t kMaxStatics = 4096;

  struct Executed {
    uint32_t static_id = 0;
    LaneMask mask = 0;
    uint64_t base = 0;
    AccessShape shape;
  };
  struct WarpLog {
    std::vector<Executed> executed;
    std::vector<Cycle> issued;
  };
  struct CtaLog {
    std::vector<WarpLog> warps;
  };

  class Cursor : public WarpCursor {
   public:
    Cursor(const SmLab* lab, WarpLog* log) : lab_(lab), log_(log) {}
    bool Next(DynInst* inst) override {
      if (next_ != 0 && log_->issued.size() < log_->executed.size()) log_->issued.push_back(lab_->now_);
      if (next_ == log_->executed.size()) return false;
      const Executed& executed = log_->executed[next_++];
      *inst = {executed.static_id, executed.mask, executed.shape.offsets.empty() ? nullptr : &executed.shape,
               executed.base};
      return true;
    }
    const absl::Status& status() const override { return status_; }
    uint64_t remaining() const override { return log_->executed.size() - next_; }

   private:
    const SmLab* lab_;
    WarpLog* log_;
    size_t next_ = 0;
    absl::Status status_;
  };

  class Trace : public CtaTrace {
   public:
    Trace(const SmLab* lab, CtaLog* log) : lab_(lab), log_(log) {}
    Dim3 id() const override { return {0, 0, 0}; }
    uint32_t num_warps() const override { return static_cast<uint32_t>(log_->warps.size()); }
    uint64_t warp_instructions(uint32_t warp) const override { return log_->warps[warp].executed.size(); }
    std::unique_ptr<WarpCursor> OpenWarp(uint32_t warp) const override {
      if (log_->warps[warp].executed.empty()) return nullptr;
      return std::make_unique<Cursor>(lab_, &log_->warps[warp]);
    }

   private:
    const SmLab* lab_;
    CtaLog* log_;
  };

  void Place(const Program& program, KernelCode* code, WarpLog* log) {
    uint32_t pc = 0;
    for (const Inst& inst : program) {
      if (inst.pc != Inst::kNextPc) pc = inst.pc;
      Executed executed;
      executed.static_id = static_cast<uint32_t>(code->insts.size());
      executed.mask = inst.mask;
      if (!inst.addresses.empty()) {
        executed.base = inst.addresses[0];
        executed.shape.mask = inst.mask;
        executed.shape.id = next_shape_++;
        for (const uint64_t address : inst.addresses) {
          executed.shape.offsets.push_back(address - executed.base);
        }
        EXPECT_EQ(executed.shape.offsets.size(), static_cast<size_t>(__builtin_popcount(inst.mask)));
      }
      log->executed.push_back(std::move(executed));
      code->insts.push_back(inst.code);
      code->insts.back().pc = pc;
      pc += 16;
    }
  }

  void Answer(const MemRequest& request) {
    requests_.push_back(request);
    Cycle at = reply_latency_ == kNoReply ? kNoReply : request.cycle + reply_latency_;
    for (const auto& [line, cycle] : scripted_) {
      if (line == request.line) at = cycle;
    }
    if (at == kNoReply) return;
    at = std::max(at, now_);
    const auto behind = std::upper_bound(inbox_.begin(), inbox_.end(), at,
                                         [](Cycle cycle, const MemReply& r) { return cycle < r.cycle; });
    inbox_.insert(behind, {at, request.token});
  }

  GpuConfig config_;
  std::vector<std::unique_ptr<PcProfile>> profiles_;
  std::vector<std::unique_ptr<KernelCode>> codes_;
  std::vector<std::unique_ptr<CtaLog>> logs_;
  Sm sm_;
  Cycle now_ = 0;
  bool exact_ = true;
  uint32_t next_shape_ = 0;
  Cycle reply_latency_ = 300;
  std::vector<std::pair<uint64_t, Cycle>> scripted_;
  std::vector<MemReply> inbox_;
  std::vector<MemRequest> requests_;
  std::vector<ClockSample> samples_;
  std::vector<Cycle> finished_;
};

// Issue cycles of one warp alone.
inline std::vector<Cycle> IssueCycles(const Program& program, const GpuConfig& config = LabConfig()) {
  SmLab lab(config);
  lab.Launch({program});
  lab.Run();
  return lab.Issued();
}
// Cycles from one issue to the next.
inline std::vector<Cycle> Gaps(const std::vector<Cycle>& issued) {
  std::vector<Cycle> gaps;
  for (size_t i = 1; i < issued.size(); ++i) gaps.push_back(issued[i] - issued[i - 1]);
  return gaps;
}
// Cycles from the first instruction's issue to the last one's.
inline Cycle Span(const Program& program, const GpuConfig& config = LabConfig()) {
  const std::vector<Cycle> issued = IssueCycles(program, config);
  return issued.back() - issued.front();
}

}  // namespace sm89::testing
