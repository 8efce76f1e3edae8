"""Routines in LLVM IR that machine code calls."""
