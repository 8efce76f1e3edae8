"""Nodes become LLVM IR: values, memory, loops over elements."""
