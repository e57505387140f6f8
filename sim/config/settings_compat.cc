// Names of GPGPU-Sim and Accel-Sim that are accepted so that existing files load, and have no effect. Each
// belongs to one reason; a use of it is answered with that reason as a warning, or refused when strict.
#include <array>
#include <span>

#include "absl/strings/str_cat.h"
#include "sim/base/strings.h"
#include "sim/config/binding.h"
#include "sim/config/setting_row.h"
#include "sim/config/setting_sources.h"

namespace sm89::settings {
namespace {

// Why the names have no effect; `reason` completes "-name has no effect: ...".
struct Reason {
  std::string_view reason;
  std::span<const std::string_view> names;
};

constexpr std::array kPtx = std::to_array<std::string_view>({
    "-save_embedded_ptx",
    "-keep",
    "-gpgpu_ptx_save_converted_ptxplus",
    "-gpgpu_occupancy_sm_number",
    "-ptx_opcode_latency_int",
    "-ptx_opcode_latency_fp",
    "-ptx_opcode_latency_dp",
    "-ptx_opcode_latency_sfu",
    "-ptx_opcode_latency_tesnor",
    "-ptx_opcode_initiation_int",
    "-ptx_opcode_initiation_fp",
    "-ptx_opcode_initiation_dp",
    "-ptx_opcode_initiation_sfu",
    "-ptx_opcode_initiation_tensor",
    "-gpgpu_ptx_use_cuobjdump",
    "-gpgpu_experimental_lib_support",
    "-gpgpu_ptx_convert_to_ptxplus",
    "-gpgpu_ptx_force_max_capability",
    "-gpgpu_ptx_inst_debug_to_file",
    "-gpgpu_ptx_inst_debug_file",
    "-gpgpu_ptx_inst_debug_thread_uid",
    "-gpgpu_ptx_instruction_classification",
    "-gpgpu_ptx_sim_mode",
    "-gpgpu_simd_model",
});
constexpr std::array kCheckpoint = std::to_array<std::string_view>({
    "-checkpoint_option",
    "-checkpoint_kernel",
    "-checkpoint_CTA",
    "-checkpoint_CTA_t",
    "-checkpoint_insn_Y",
    "-resume_option",
    "-resume_kernel",
    "-resume_CTA",
});
constexpr std::array kDeviceLaunch = std::to_array<std::string_view>({
    "-cdp_latency",
    "-gpgpu_cdp_enabled",
});
constexpr std::array kInterconnect = std::to_array<std::string_view>({
    "-network_mode",
    "-inter_config_file",
    "-icnt_in_buffer_limit",
    "-icnt_out_buffer_limit",
    "-icnt_subnets",
    "-icnt_arbiter_algo",
    "-icnt_verbose",
    "-icnt_grant_cycles",
    "-icnt_flit_size",
    "-gpgpu_n_cluster_ejection_buffer_size",
    "-gpgpu_n_ldst_response_buffer_size",
});
constexpr std::array kOperandCollector = std::to_array<std::string_view>({
    "-gpgpu_num_reg_banks",
    "-gpgpu_reg_bank_use_warp_id",
    "-gpgpu_enable_specialized_operand_collector",
    "-gpgpu_operand_collector_num_units_sp",
    "-gpgpu_operand_collector_num_units_dp",
    "-gpgpu_operand_collector_num_units_sfu",
    "-gpgpu_operand_collector_num_units_int",
    "-gpgpu_operand_collector_num_units_tensor_core",
    "-gpgpu_operand_collector_num_units_mem",
    "-gpgpu_operand_collector_num_units_gen",
    "-gpgpu_operand_collector_num_in_ports_sp",
    "-gpgpu_operand_collector_num_in_ports_dp",
    "-gpgpu_operand_collector_num_in_ports_sfu",
    "-gpgpu_operand_collector_num_in_ports_int",
    "-gpgpu_operand_collector_num_in_ports_tensor_core",
    "-gpgpu_operand_collector_num_in_ports_mem",
    "-gpgpu_operand_collector_num_in_ports_gen",
    "-gpgpu_operand_collector_num_out_ports_sp",
    "-gpgpu_operand_collector_num_out_ports_dp",
    "-gpgpu_operand_collector_num_out_ports_sfu",
    "-gpgpu_operand_collector_num_out_ports_int",
    "-gpgpu_operand_collector_num_out_ports_tensor_core",
    "-gpgpu_operand_collector_num_out_ports_mem",
    "-gpgpu_operand_collector_num_out_ports_gen",
    "-gpgpu_reg_file_port_throughput",
});
constexpr std::array kUnits = std::to_array<std::string_view>({
    "-gpgpu_pipeline_widths",
    "-gpgpu_tensor_core_avail",
    "-gpgpu_num_sp_units",
    "-gpgpu_num_dp_units",
    "-gpgpu_num_int_units",
    "-gpgpu_num_sfu_units",
    "-gpgpu_num_tensor_core_units",
    "-gpgpu_num_mem_units",
    "-gpgpu_mem_unit_ports",
    "-specialized_unit_1",
    "-specialized_unit_2",
    "-specialized_unit_3",
    "-specialized_unit_4",
    "-specialized_unit_5",
    "-specialized_unit_6",
    "-specialized_unit_7",
    "-specialized_unit_8",
    "-trace_opcode_latency_initiation_spec_op_1",
    "-trace_opcode_latency_initiation_spec_op_2",
    "-trace_opcode_latency_initiation_spec_op_3",
    "-trace_opcode_latency_initiation_spec_op_4",
    "-trace_opcode_latency_initiation_spec_op_5",
    "-trace_opcode_latency_initiation_spec_op_6",
    "-trace_opcode_latency_initiation_spec_op_7",
    "-trace_opcode_latency_initiation_spec_op_8",
});
constexpr std::array kFixed = std::to_array<std::string_view>({
    "-gpgpu_sub_core_model",
    "-gpgpu_coalesce_arch",
    "-gpgpu_max_insn_issue_per_warp",
    "-gpgpu_inst_fetch_throughput",
    "-gpgpu_dual_issue_diff_exec_units",
    "-gpgpu_simt_core_sim_order",
    "-gpgpu_warpdistro_shader",
    "-gpgpu_warp_issue_shader",
    "-gpgpu_adaptive_cache_config",
    "-gpgpu_shmem_limited_broadcast",
    "-gpgpu_shmem_warp_parts",
    "-gpgpu_local_mem_map",
    "-gpgpu_flush_l1_cache",
    "-gpgpu_num_cta_barriers",
    "-gpgpu_ignore_resources_limitation",
    "-gpgpu_dram_scheduler",
    "-gpgpu_dram_burst_length",
    "-gpgpu_n_mem_per_ctrlr",
});
constexpr std::array kSharedSize = std::to_array<std::string_view>({
    "-gpgpu_shmem_per_block",
    "-gpgpu_shmem_size",
    "-gpgpu_shmem_sizeDefault",
    "-gpgpu_shmem_size_PrefL1",
    "-gpgpu_shmem_size_PrefShared",
    "-gpgpu_registers_per_block",
});
constexpr std::array kNotModelled = std::to_array<std::string_view>({
    "-gpgpu_l1_cache_write_ratio",
    "-gpgpu_l1_banks",
    "-gpgpu_l1_banks_byte_interleaving",
    "-gpgpu_l1_banks_hashing_function",
    "-gpgpu_gmem_skip_L1D",
    "-gpgpu_perfect_mem",
    "-gpgpu_concurrent_kernel_sm",
    "-gpgpu_simple_dram_model",
    "-l2_ideal",
    "-gpgpu_flush_l2_cache",
});
constexpr std::array kPerfectCaches = std::to_array<std::string_view>({"-gpgpu_perfect_inst_const_cache"});
constexpr std::array kDramQueues = std::to_array<std::string_view>({
    "-gpgpu_dram_partition_queues",
    "-gpgpu_dram_return_queue_size",
    "-dram_dual_bus_interface",
    "-dram_bnk_indexing_policy",
    "-dram_bnkgrp_indexing_policy",
    "-dram_seperate_write_queue_enable",
    "-dram_elimnate_rw_turnaround",
});
constexpr std::array kDramWriteQueue = std::to_array<std::string_view>({"-dram_write_queue_size"});
constexpr std::array kLumpedLatency = std::to_array<std::string_view>({
    "-gpgpu_l2_rop_latency",
    "-dram_latency",
});
constexpr std::array kAddressMap = std::to_array<std::string_view>({
    "-gpgpu_mem_addr_mapping",
    "-gpgpu_mem_addr_test",
    "-gpgpu_mem_address_mask",
    "-gpgpu_cache:dl2_texture_only",
});
constexpr std::array kPower = std::to_array<std::string_view>({
    "-n_regfile_gating_group",
    "-gpgpu_clock_gated_reg_file",
    "-gpgpu_clock_gated_lanes",
    "-accelwattch_xml_file",
    "-power_simulation_enabled",
    "-power_per_cycle_dump",
    "-hw_perf_file_name",
    "-hw_perf_bench_name",
    "-power_simulation_mode",
    "-dvfs_enabled",
    "-aggregate_power_stats",
    "-accelwattch_hybrid_perfsim_L1_RH",
    "-accelwattch_hybrid_perfsim_L1_RM",
    "-accelwattch_hybrid_perfsim_L1_WH",
    "-accelwattch_hybrid_perfsim_L1_WM",
    "-accelwattch_hybrid_perfsim_L2_RH",
    "-accelwattch_hybrid_perfsim_L2_RM",
    "-accelwattch_hybrid_perfsim_L2_WH",
    "-accelwattch_hybrid_perfsim_L2_WM",
    "-accelwattch_hybrid_perfsim_CC_ACC",
    "-accelwattch_hybrid_perfsim_SHARED_ACC",
    "-accelwattch_hybrid_perfsim_DRAM_RD",
    "-accelwattch_hybrid_perfsim_DRAM_WR",
    "-accelwattch_hybrid_perfsim_NOC",
    "-accelwattch_hybrid_perfsim_PIPE_DUTY",
    "-accelwattch_hybrid_perfsim_NUM_SM_IDLE",
    "-accelwattch_hybrid_perfsim_CYCLES",
    "-accelwattch_hybrid_perfsim_VOLTAGE",
    "-power_trace_enabled",
    "-power_trace_zlevel",
    "-steady_power_levels_enabled",
    "-steady_state_definition",
});
constexpr std::array kRunLimits = std::to_array<std::string_view>({
    "-gpgpu_max_cycle",
    "-gpgpu_max_insn",
    "-gpgpu_max_cta",
    "-gpgpu_max_completed_cta",
    "-trace",
});
constexpr std::array kOutput = std::to_array<std::string_view>({
    "-gpgpu_memlatency_stat",
    "-gpgpu_runtime_stat",
    "-liveness_message_freq",
    "-gpgpu_cflog_interval",
    "-visualizer_enabled",
    "-visualizer_outputfile",
    "-visualizer_zlevel",
    "-trace_enabled",
    "-trace_components",
    "-trace_sampling_core",
    "-trace_sampling_memory_partition",
    "-enable_ptx_file_line_stats",
    "-ptx_line_stats_filename",
});
constexpr std::array kDevice = std::to_array<std::string_view>({
    "-gpgpu_compute_capability_major",
    "-gpgpu_compute_capability_minor",
    "-gpgpu_stack_size_limit",
    "-gpgpu_heap_size_limit",
    "-gpgpu_runtime_sync_depth_limit",
    "-gpgpu_runtime_pending_launch_count_limit",
});
constexpr std::array kDeadlock = std::to_array<std::string_view>({"-gpgpu_deadlock_detect"});

constexpr std::array kReasons = std::to_array<Reason>({
    {"this simulator runs machine code (SASS), never PTX", kPtx},
    {"there are no checkpoints of a functional PTX run", kCheckpoint},
    {"launches by the device are not in traces", kDeviceLaunch},
    {"the interconnect is a crossbar of reserved ports, set by -gpgpu_sm89_noc_*", kInterconnect},
    {"the SM has no operand collectors; its register file is set by -gpgpu_sm89_register_*",
     kOperandCollector},
    {"there is one unit of each kind a sub-core, set by "
     "-trace_opcode_latency_initiation_{int,sp,dp,sfu,tensor} and "
     "-gpgpu_sm89_timing_*",
     kUnits},
    {"this model knows one way of doing it, that of the hardware", kFixed},
    {"limits are set by -gpgpu_shmem_option, -gpgpu_sm89_max_shmem_per_cta and -gpgpu_shader_registers",
     kSharedSize},
    {"not modelled", kNotModelled},
    {"each is set by itself, -gpgpu_sm89_perfect_icache and -gpgpu_sm89_perfect_constant_cache",
     kPerfectCaches},
    {"a DRAM channel has a queue of reads, -gpgpu_frfcfs_dram_sched_queue_size, and one of writes, "
     "-gpgpu_sm89_dram_write_queue_entries, on one data bus; its banks are as -gpgpu_dram_timing_opt says",
     kDramQueues},
    {"the queue and the marks between which it is emptied are set by -gpgpu_sm89_dram_write_queue_entries, "
     "-gpgpu_sm89_dram_write_high_mark and -gpgpu_sm89_dram_write_low_mark",
     kDramWriteQueue},
    {"the latency is made of parts: -gpgpu_sm89_noc_request_latency, -gpgpu_sm89_l2_latency, "
     "-gpgpu_sm89_noc_reply_latency, -gpgpu_sm89_dram_base_latency",
     kLumpedLatency},
    {"addresses are spread by -gpgpu_memory_partition_indexing alone", kAddressMap},
    {"there is no power model", kPower},
    {"what a run reads and when it ends is said when it is started, not in its configuration", kRunLimits},
    {"what is written is said when a run is started, not in its configuration", kOutput},
    {"a property that a device reports to programs; it has no timing", kDevice},
    {"deadlock detection is always on, after -gpgpu_sm89_deadlock_cycles", kDeadlock},
});

struct UnusedCache {
  std::string_view name, reason;
};
constexpr std::array kUnusedCaches = std::to_array<UnusedCache>({
    {"-gpgpu_cache:il1", "instruction caches are set by -gpgpu_sm89_l0i_* and -gpgpu_sm89_l1i_*"},
    {"-gpgpu_const_cache:l1", "constant caches are set by -gpgpu_sm89_constant_*"},
    {"-gpgpu_tex_cache:l1", "not modelled"},
    {"-gpgpu_cache:dl1PrefL1", "a kernel's data cache is what its shared memory leaves of the unified array"},
    {"-gpgpu_cache:dl1PrefShared",
     "a kernel's data cache is what its shared memory leaves of the unified array"},
});

Outcome CheckCacheString(std::string_view text, GpuConfig*) {
  CacheConfig checked;
  return ReadCacheString(text, &checked);
}

// Kept as it is, so it must survive a dump and be fit to show.
Outcome AnyText(std::string_view text, GpuConfig*) {
  if (text.find_first_of("\"#") != std::string_view::npos)
    return Problem{"a quote or '#' in the value", "", {}};
  if (Printable(text) != text) return Problem{"not printable UTF-8 of at most 200 bytes", "", {}};
  return {};
}

}  // namespace

std::vector<RowSpec> CompatibilityRows() {
  std::vector<RowSpec> rows;
  for (const UnusedCache& cache : kUnusedCaches) {
    rows.push_back(
        {.name = cache.name,
         .help = cache.reason,
         .source = kCompatibility,
         .binding = {SettingType::kCacheString, std::string(kCachePattern), CheckCacheString, {}, {}}});
  }
  for (const Reason& reason : kReasons) {
    for (const std::string_view name : reason.names) {
      rows.push_back({.name = name,
                      .help = reason.reason,
                      .source = kCompatibility,
                      .binding = {SettingType::kString, "text", AnyText, {}, {}}});
    }
  }
  return rows;
}

}  // namespace sm89::settings
