"""Values made of several tensors: arrays that are written element by element, sparse values, variables."""
