"""The llm command, with responses."""

import client_llm
from client_llm import (
    SCENARIOS as SCENARIOS,
    chat as chat,
    context_overflow as context_overflow,
    image as image,
    stream as stream,
    structured_output as structured_output,
    tools as tools,
    wrong_key as wrong_key,
)

client_llm.model_id = "svc-responses"
