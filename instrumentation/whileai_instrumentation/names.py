"""The attributes that this package writes, by what they mean to the service."""

from typing import Final

AGENT: Final = "gen_ai.agent.name"
AGENT_VERSION: Final = "gen_ai.agent.version"
CONVERSATION: Final = "gen_ai.conversation.id"
OPERATION: Final = "gen_ai.operation.name"
INPUT_MESSAGES: Final = "gen_ai.input.messages"
OUTPUT_MESSAGES: Final = "gen_ai.output.messages"

SCENARIO: Final = "whileai.scenario_id"
EVAL_SET: Final = "whileai.eval_set"
DATASET: Final = "whileai.dataset"
# On the resource: the name the agent has on the platform, whatever its framework calls it.
AGENT_OF_PROCESS: Final = "whileai.agent"

REWARD: Final = "whileai.reward"
SCORE: Final = "zeroproof.score"
SCORE_PASS_AT: Final = "zeroproof.score.pass_at"

PROMPT_TOKEN_IDS: Final = "whileai.prompt_token_ids"
TOKEN_IDS: Final = "whileai.token_ids"
LOGPROBS: Final = "whileai.logprobs"

EVALUATION: Final = "gen_ai.evaluation.result"
EVALUATION_NAME: Final = "gen_ai.evaluation.name"
EVALUATION_VALUE: Final = "gen_ai.evaluation.score.value"
EVALUATION_LABEL: Final = "gen_ai.evaluation.score.label"
EVALUATION_EXPLANATION: Final = "gen_ai.evaluation.explanation"
