"""The graph: ops, nodes, tensors, the structured nodes, and how values become tensors."""
