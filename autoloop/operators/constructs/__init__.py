"""One file for each construct of the language."""
