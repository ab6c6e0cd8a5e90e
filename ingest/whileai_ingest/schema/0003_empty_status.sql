-- A status that was sent, and says nothing: spans come out again as they went in.
ALTER TABLE spans ${on_cluster} ADD COLUMN IF NOT EXISTS empty_status UInt8 CODEC(ZSTD(1)) AFTER status
