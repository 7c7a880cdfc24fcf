"""Programs as machine code: LLVM text, and its compilation."""
