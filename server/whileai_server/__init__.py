"""whileai_server."""
