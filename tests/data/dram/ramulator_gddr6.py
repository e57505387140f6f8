"""Exports the controller of one 16-bit GDDR6 channel at 21 Gb/s: python -m ramulator export cfg.py -o FILE."""
import math
import os

import ramulator

TCK_PS = 381  # 8 / 21 Gb/s = 380.95 ps
# GDDR6_14000_1350mV_double in nanoseconds (clocks of 570 ps); burst length and tCCDS are clocks.
NS = dict(nCL=24, nRCDRD=27, nRCDWR=16, nRP=27, nRAS=53, nRC=79, nWR=27, nRTP=4, nCWL=6, nCCDL=4, nRRDS=8,
          nRRDL=8, nWTRS=9, nWTRL=11, nFAW=29, nRFCpb=106, nRREFD=15, nRFCab=211, nPPD=1)
timing = {k: math.ceil(v * 570 / TCK_PS - 0.05) for k, v in NS.items()}
timing.update(rate=21000, nBL=2, nCCDS=2, tCK_ps=TCK_PS, nREFI=1_900_000 // TCK_PS)
print(timing)
dram = ramulator.dram.GDDR6(org_preset="GDDR6_16Gb_x16", timing_preset="GDDR6_14000_1350mV_double", **timing)
refresh = ramulator.refresh_manager
ctrl = ramulator.controller.GenericDDR(
    dram=dram,
    scheduler=ramulator.scheduler.FRFCFSRowHit(),
    refresh_manager=refresh.AllBank() if os.environ.get("REFRESH") == "all" else refresh.NoRefresh(),
    row_policy=ramulator.row_policy.Open(),
    addr_mapper=ramulator.addr_mapper.PassThroughAddrMapper(),
)
mem = ramulator.memory_system.GenericDRAM(clock_ratio=1, controllers=[ctrl],
    channel_mapper=ramulator.channel_mapper.PassThroughChannelMapper())
ramulator.Simulation(ramulator.frontend.External(clock_ratio=1), mem)
