"""Settings and the one composition root: `whileai serve`."""
