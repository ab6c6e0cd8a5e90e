-- What is counted of each row of a file: {source} is a table with one column `line`. A task is named as `task_key` names it.
SELECT task, count(), count(reward), countIf(reward >= {pass:Float64}), sum(steps), countIf(notEmpty(tools)),
    sumMap(tools, arrayMap(tool -> toUInt64(1), tools)),
    sumMap([answer_below], [toUInt64(answer_below > 0)])
FROM (
    SELECT
        ['', '""', 'null', 'false', '0', '0.0', '[]', '{}'] AS nothing,
        multiIf(
            JSONExtractRaw(line, 'scenario_id') NOT IN nothing, JSONExtractString(line, 'scenario_id'),
            JSONExtractRaw(line, 'task_id') NOT IN nothing, JSONExtractString(line, 'task_id'),
            JSONExtractRaw(line, 'prompt') NOT IN nothing, JSONExtractString(line, 'prompt'),
            ''
        ) AS task,
        if(
            JSONType(line, 'reward') IN ('Int64', 'UInt64', 'Double', 'Bool'),
            JSONExtract(line, 'reward', 'Nullable(Float64)'),
            NULL
        ) AS reward,
        if(JSONType(line, 'steps') = 'Array', JSONLength(line, 'steps'), 0) AS steps,
        arrayMap(
            step -> if(JSONType(step, 'tool') = 'String', JSONExtractString(step, 'tool'), ''),
            JSONExtractArrayRaw(line, 'steps')
        ) AS tools_of_steps,
        arrayFlatten(arrayMap(
            message -> arrayMap(
                call -> multiIf(
                    JSONHas(call, 'function'), JSONExtractString(call, 'function', 'name'),
                    JSONType(call, 'name') = 'String', JSONExtractString(call, 'name'),
                    ''
                ),
                JSONExtractArrayRaw(message, 'tool_calls')
            ),
            JSONExtractArrayRaw(line, 'messages')
        )) AS tools_of_messages,
        arrayDistinct(arrayFilter(tool -> tool != '', arrayConcat(tools_of_steps, tools_of_messages))) AS tools,
        lengthUTF8(JSONExtractString(line, 'final_text')) AS answer_chars,
        -- The power of two above the characters of the answer; 0 where there is no text.
        if(
            JSONType(line, 'final_text') = 'String',
            toUInt64(exp2(greatest(4, floor(log2(greatest(1, answer_chars))) + 1))),
            0
        ) AS answer_below
    FROM {source}
    WHERE match(line, '\\S')
)
GROUP BY task
ORDER BY task
