"""The machine code of each op."""
