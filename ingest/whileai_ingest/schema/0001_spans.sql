-- Spans as they came. Attribute values are raw AnyValue bytes: the type travels with the value, nothing is lost.
-- Ordered by ten-minute buckets of ARRIVAL, which no sender controls: recent traces lie together, and a copy that comes
-- again later is another row (`version` is in the key), so the first arrival of a span is never forgotten by a merge.
CREATE TABLE IF NOT EXISTS spans ${on_cluster} (
    account LowCardinality(String),
    version UInt64 CODEC(Delta, ZSTD(1)),
    bucket UInt32 MATERIALIZED intDiv(version, 600000000000),
    trace_id String CODEC(ZSTD(1)),
    span_id String CODEC(ZSTD(1)),
    parent_span_id String CODEC(ZSTD(1)),
    trace_state String CODEC(ZSTD(1)),
    flags UInt32 CODEC(ZSTD(1)),
    name String CODEC(ZSTD(1)),
    kind Int32 CODEC(ZSTD(1)),
    start_time_unix_nano Int64 CODEC(Delta, ZSTD(1)),
    end_time_unix_nano Int64 CODEC(Delta, ZSTD(1)),
    attributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    events Array(String) CODEC(ZSTD(1)),
    links Array(String) CODEC(ZSTD(1)),
    status String CODEC(ZSTD(1)),
    dropped_attributes_count UInt32 CODEC(ZSTD(1)),
    dropped_events_count UInt32 CODEC(ZSTD(1)),
    dropped_links_count UInt32 CODEC(ZSTD(1)),
    resource LowCardinality(String) CODEC(ZSTD(1)),
    scope LowCardinality(String) CODEC(ZSTD(1)),
    resource_schema_url LowCardinality(String),
    scope_schema_url LowCardinality(String)
) ENGINE = ${replicated}ReplacingMergeTree
PARTITION BY toYYYYMM(toDateTime(intDiv(version, 1000000000), 'UTC'))
ORDER BY (account, bucket, trace_id, span_id, version)
SETTINGS ${settings};

-- Log records. A record has no id, so its content is its identity (`log_id`).
CREATE TABLE IF NOT EXISTS log_records ${on_cluster} (
    account LowCardinality(String),
    version UInt64 CODEC(Delta, ZSTD(1)),
    bucket UInt32 MATERIALIZED intDiv(version, 600000000000),
    trace_id String CODEC(ZSTD(1)),
    span_id String CODEC(ZSTD(1)),
    log_id String CODEC(ZSTD(1)),
    time_unix_nano Int64 CODEC(Delta, ZSTD(1)),
    observed_time_unix_nano Int64 CODEC(Delta, ZSTD(1)),
    severity_number Int32 CODEC(ZSTD(1)),
    severity_text LowCardinality(String),
    event_name LowCardinality(String),
    body String CODEC(ZSTD(1)),
    attributes Map(LowCardinality(String), String) CODEC(ZSTD(1)),
    dropped_attributes_count UInt32 CODEC(ZSTD(1)),
    flags UInt32 CODEC(ZSTD(1)),
    resource LowCardinality(String) CODEC(ZSTD(1)),
    scope LowCardinality(String) CODEC(ZSTD(1)),
    resource_schema_url LowCardinality(String),
    scope_schema_url LowCardinality(String)
) ENGINE = ${replicated}ReplacingMergeTree
PARTITION BY toYYYYMM(toDateTime(intDiv(version, 1000000000), 'UTC'))
ORDER BY (account, bucket, trace_id, span_id, log_id, version)
SETTINGS ${settings};

-- Gradings sent by call, all of them: the latest wins when a run is read, the others are its history.
CREATE TABLE IF NOT EXISTS measurements ${on_cluster} (
    account LowCardinality(String),
    trace_id String CODEC(ZSTD(1)),
    name String CODEC(ZSTD(1)),
    source LowCardinality(String),
    span_id String CODEC(ZSTD(1)),
    version UInt64 CODEC(Delta, ZSTD(1)),
    graded_at Int64 CODEC(Delta, ZSTD(1)),
    value Nullable(Float64),
    label Nullable(String) CODEC(ZSTD(1)),
    pass_at Nullable(Float64),
    extra String CODEC(ZSTD(1))
) ENGINE = ${replicated}ReplacingMergeTree
ORDER BY (account, trace_id, name, source, span_id, version)
SETTINGS ${settings};

-- What was deleted, up to which arrival: keeps a late copy from coming back.
CREATE TABLE IF NOT EXISTS tombstones ${on_cluster} (
    account LowCardinality(String),
    trace_id String,
    version UInt64
) ENGINE = ${replicated}ReplacingMergeTree(version)
ORDER BY (account, trace_id)
SETTINGS ${settings};

-- One row per trace: what `summarise` made of it. `version` is the newest item that went in.
-- A row without spans holds the place of a grading or a log record that came before its trace.
CREATE TABLE IF NOT EXISTS runs ${on_cluster} (
    account LowCardinality(String),
    trace_id String CODEC(ZSTD(1)),
    version UInt64 CODEC(ZSTD(1)),
    deleted UInt8,
    first_arrival UInt64 CODEC(ZSTD(1)),
    last_arrival UInt64 CODEC(ZSTD(1)),
    span_count UInt32 CODEC(ZSTD(1)),
    size_bytes UInt64 CODEC(ZSTD(1)),
    has_root UInt8,
    agent Nullable(String) CODEC(ZSTD(1)),
    agents Array(String) CODEC(ZSTD(1)),
    service Nullable(String) CODEC(ZSTD(1)),
    model Nullable(String) CODEC(ZSTD(1)),
    provider Nullable(String) CODEC(ZSTD(1)),
    model_version Nullable(String) CODEC(ZSTD(1)),
    scenario_id Nullable(String) CODEC(ZSTD(1)),
    conversation_id Nullable(String) CODEC(ZSTD(1)),
    eval_set Nullable(String) CODEC(ZSTD(1)),
    dataset LowCardinality(String),
    start_time_unix_nano Int64 CODEC(ZSTD(1)),
    end_time_unix_nano Int64 CODEC(ZSTD(1)),
    status LowCardinality(String),
    error Nullable(String) CODEC(ZSTD(1)),
    prompt Nullable(String) CODEC(ZSTD(1)),
    final_text Nullable(String) CODEC(ZSTD(1)),
    tools Array(String) CODEC(ZSTD(1)),
    step_count UInt32 CODEC(ZSTD(1)),
    input_tokens Nullable(UInt64) CODEC(ZSTD(1)),
    output_tokens Nullable(UInt64) CODEC(ZSTD(1)),
    cached_input_tokens Nullable(UInt64) CODEC(ZSTD(1)),
    reasoning_tokens Nullable(UInt64) CODEC(ZSTD(1)),
    cost_usd Nullable(Float64) CODEC(ZSTD(1)),
    measures Array(LowCardinality(String)) CODEC(ZSTD(1)),
    reward Nullable(Float64) CODEC(ZSTD(1)),
    verdict LowCardinality(String)
) ENGINE = ${replicated}ReplacingMergeTree(version, deleted)
ORDER BY (account, trace_id)
SETTINGS ${settings}, index_granularity = 1024;

-- Refused at the door, a row per request, reason and agent; shown grouped by minute.
CREATE TABLE IF NOT EXISTS rejections ${on_cluster} (
    account LowCardinality(String),
    version UInt64,
    signal LowCardinality(String),
    reason LowCardinality(String),
    agent String,
    detail String,
    count UInt64
) ENGINE = ${replicated}ReplacingMergeTree
ORDER BY (account, version, signal, reason, agent)
TTL toDateTime(intDiv(version, 1000000000), 'UTC') + INTERVAL 30 DAY
SETTINGS ${settings};

-- What was acknowledged and proved unwritable after all, raw.
CREATE TABLE IF NOT EXISTS quarantine ${on_cluster} (
    account LowCardinality(String),
    version UInt64,
    kind LowCardinality(String),
    error String,
    raw String CODEC(ZSTD(1))
) ENGINE = ${replicated}ReplacingMergeTree
ORDER BY (account, version, kind)
SETTINGS ${settings}
