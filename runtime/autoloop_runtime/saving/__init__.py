"""Graphs as bytes, and back: a format without code, of which everything is checked before anything is made of it."""
