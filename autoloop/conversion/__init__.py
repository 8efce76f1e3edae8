"""From a function object to converted code: source, analyses, rewriting, code object."""
