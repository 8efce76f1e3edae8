"""From a structured graph to Python source: straight-line code over NumPy, loops and branches as themselves."""
