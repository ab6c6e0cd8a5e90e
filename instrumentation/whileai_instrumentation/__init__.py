"""whileai_instrumentation."""
