"""``while_loop``, ``cond``, ``map_fn`` and ``scan`` as structured nodes."""
