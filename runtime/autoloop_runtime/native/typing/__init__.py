"""What machine code knows of a graph before it is written: dtypes, shapes, what collections hold."""
