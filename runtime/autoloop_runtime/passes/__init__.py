"""Pure passes from structured graph to structured graph, and what they ask of nodes."""
