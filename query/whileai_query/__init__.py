"""whileai_query."""
