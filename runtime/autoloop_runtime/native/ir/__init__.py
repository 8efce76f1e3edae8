"""LLVM's types, instructions and texts, one element at a time."""
