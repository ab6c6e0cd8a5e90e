-- Lines of a file that a server is to count, for as long as it counts; what a killed counting leaves goes after a day.
-- Embedded ClickHouse reads the file itself.
CREATE TABLE IF NOT EXISTS scratch_lines ${on_cluster} (
    account LowCardinality(String),
    counting String,
    number UInt64,
    line String CODEC(ZSTD(1)),
    arrived_at DateTime DEFAULT now()
) ENGINE = ${replicated}ReplacingMergeTree
ORDER BY (account, counting, number)
TTL arrived_at + INTERVAL 1 DAY
SETTINGS ${settings}
