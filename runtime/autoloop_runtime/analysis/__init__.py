"""Facts about a graph, each derived in one place."""
