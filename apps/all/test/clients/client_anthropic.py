"""The anthropic package."""

import base64

import anthropic
from pydantic import BaseModel
from scenarios import API_KEY, ASK_WEATHER, BASE_URL, MODEL, SAID, SAY, TOO_LONG, WEATHER_TOOL, red_png

SCENARIOS = [
    "chat",
    "stream",
    "tools",
    "structured_output",
    "image",
    "count_tokens",
    "models",
    "wrong_key",
    "context_overflow",
]

# The client appends /v1 itself.
ROOT = BASE_URL.removesuffix("/v1")


class Trip(BaseModel):
    city: str
    days: int


def client(api_key=API_KEY):
    return anthropic.Anthropic(base_url=ROOT, api_key=api_key, max_retries=0)


def request(text, **more):
    content = text if isinstance(text, list) else str(text)
    return {"model": MODEL, "max_tokens": 500, "messages": [{"role": "user", "content": content}], **more}


def text_of(message):
    return "".join(block.text for block in message.content if block.type == "text")


def chat():
    message = client().messages.create(**request(SAY))
    assert text_of(message) == SAID
    assert message.stop_reason == "end_turn"
    assert message.usage.output_tokens > 0


def stream():
    with client().messages.stream(**request(SAY)) as events:
        assert "".join(events.text_stream) == SAID
        assert events.get_final_message().usage.output_tokens > 0


def tools():
    function = WEATHER_TOOL["function"]
    tool = {"name": function["name"], "description": function["description"], "input_schema": function["parameters"]}
    asked = client().messages.create(**request(ASK_WEATHER, tools=[tool]))
    assert asked.stop_reason == "tool_use"
    call = next(block for block in asked.content if block.type == "tool_use")
    assert call.name == "get_weather"
    assert isinstance(call.input["city"], str)
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "sunny, 21 degrees"}
    again = request(ASK_WEATHER, tools=[tool])
    again["messages"] += [
        {"role": "assistant", "content": asked.content},
        {"role": "user", "content": [result]},
    ]
    assert "sunny, 21 degrees" in text_of(client().messages.create(**again))


def structured_output():
    message = client().messages.parse(**request("Plan a trip"), output_format=Trip)
    assert isinstance(message.parsed_output, Trip)


def image():
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(red_png()).decode()}
    content = [{"type": "image", "source": source}, {"type": "text", "text": SAY}]
    assert text_of(client().messages.create(**request(content))) == SAID


def count_tokens():
    count = client().messages.count_tokens(model=MODEL, messages=[{"role": "user", "content": SAY}])
    assert count.input_tokens > 0


def wrong_key():
    try:
        client("wrong").messages.create(**request(SAY))
    except anthropic.AuthenticationError:
        return
    raise AssertionError("it was let in")


def context_overflow():
    try:
        client().messages.create(**request(TOO_LONG))
    except anthropic.BadRequestError as error:
        assert error.body["type"] == "error", error.body
        return
    raise AssertionError("it was answered")


def models():
    assert MODEL in [model.id for model in client().models.list()]
    model = client().models.retrieve(MODEL)
    assert model.type == "model" and model.display_name == "Test Model"
    assert model.created_at.tzinfo is not None
