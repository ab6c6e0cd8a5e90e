-- When a run became complete: a moment that no later item moves, so that a reader can page by it and see each run once.
ALTER TABLE runs ${on_cluster} ADD COLUMN IF NOT EXISTS completed_at UInt64
    DEFAULT if(has_root, first_arrival, last_arrival + 60000000000) CODEC(ZSTD(1)) AFTER has_root
