"""Python tools of sm89, a simulation service for SM89 (Ada) GPUs. `sm89.ser`: the reordering stage's decisions."""

__version__ = "0.1.0"
