"""What knows nothing of graphs: structures, shapes, dtypes, settings, locations, locks."""
