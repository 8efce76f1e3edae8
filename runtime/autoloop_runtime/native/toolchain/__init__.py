"""From LLVM IR to code in memory: the compiler's process, the cache, the linker, libraries."""
