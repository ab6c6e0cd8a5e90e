-- What a profile counts of the rows of a dataset. The line is read while it is inserted and is not kept. A counting
-- removes its rows when it is done; what a killed one leaves goes after a day.
CREATE TABLE IF NOT EXISTS row_facts ${on_cluster} (
    account LowCardinality(String),
    counting String,
    number UInt64,
    line String EPHEMERAL '',
    task String DEFAULT multiIf(
        JSONExtractRaw(line, 'scenario_id') NOT IN ('', '""', 'null', 'false', '0', '0.0', '[]', '{}'),
        JSONExtractString(line, 'scenario_id'),
        JSONExtractRaw(line, 'task_id') NOT IN ('', '""', 'null', 'false', '0', '0.0', '[]', '{}'),
        JSONExtractString(line, 'task_id'),
        JSONExtractRaw(line, 'prompt') NOT IN ('', '""', 'null', 'false', '0', '0.0', '[]', '{}'),
        JSONExtractString(line, 'prompt'),
        ''
    ),
    reward Nullable(Float64) DEFAULT if(
        JSONType(line, 'reward') IN ('Int64', 'UInt64', 'Double', 'Bool'),
        JSONExtract(line, 'reward', 'Nullable(Float64)'),
        NULL
    ),
    steps UInt32 DEFAULT if(JSONType(line, 'steps') = 'Array', JSONLength(line, 'steps'), 0),
    tools Array(String) DEFAULT arrayDistinct(arrayFilter(tool -> tool != '', arrayConcat(
        arrayMap(
            step -> if(JSONType(step, 'tool') = 'String', JSONExtractString(step, 'tool'), ''),
            JSONExtractArrayRaw(line, 'steps')
        ),
        arrayFlatten(arrayMap(
            message -> arrayMap(
                call -> if(
                    JSONHas(call, 'function'),
                    JSONExtractString(call, 'function', 'name'),
                    if(JSONType(call, 'name') = 'String', JSONExtractString(call, 'name'), '')
                ),
                JSONExtractArrayRaw(message, 'tool_calls')
            ),
            JSONExtractArrayRaw(line, 'messages')
        ))
    ))),
    -- The power of two above the characters of the answer; 0 where there is no text.
    answer_below UInt64 DEFAULT if(
        JSONType(line, 'final_text') = 'String',
        toUInt64(exp2(greatest(4, floor(log2(greatest(1, lengthUTF8(JSONExtractString(line, 'final_text'))))) + 1))),
        0
    ),
    counted_at DateTime DEFAULT now()
) ENGINE = ${replicated}ReplacingMergeTree
ORDER BY (account, counting, task, number)
TTL counted_at + INTERVAL 1 DAY
SETTINGS ${settings}
