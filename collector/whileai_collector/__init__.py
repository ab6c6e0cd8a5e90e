"""whileai_collector."""
