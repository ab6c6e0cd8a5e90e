"""whileai_ingest."""
