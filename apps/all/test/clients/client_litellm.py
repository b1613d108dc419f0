"""The litellm package, which calls any OpenAI-compatible server with model names that start with `openai/`."""

import base64
import json

import litellm
from scenarios import API_KEY, ASK_WEATHER, BASE_URL, MODEL, SAID, SAY, TOO_LONG, WEATHER_TOOL, red_png

SCENARIOS = ["chat", "stream", "tools", "structured_output", "image", "wrong_key", "context_overflow"]

SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city", "days"],
    "additionalProperties": False,
}


def complete(messages, api_key=API_KEY, **options):
    return litellm.completion(
        model=f"openai/{MODEL}", api_base=BASE_URL, api_key=api_key, messages=messages, num_retries=0, **options
    )


def user(text):
    return [{"role": "user", "content": text}]


def chat():
    answer = complete(user(SAY))
    assert answer.choices[0].message.content == SAID
    assert answer.usage.total_tokens > 0


def stream():
    text = ""
    for chunk in complete(user(SAY), stream=True):
        text += chunk.choices[0].delta.content or ""
    assert text == SAID, text


def tools():
    messages = user(ASK_WEATHER)
    asked = complete(messages, tools=[WEATHER_TOOL])
    call = asked.choices[0].message.tool_calls[0]
    assert call.function.name == "get_weather"
    messages.append(asked.choices[0].message.model_dump())
    messages.append({"role": "tool", "tool_call_id": call.id, "content": "sunny, 21 degrees"})
    assert "sunny, 21 degrees" in complete(messages, tools=[WEATHER_TOOL]).choices[0].message.content


def structured_output():
    form = {"type": "json_schema", "json_schema": {"name": "trip", "strict": True, "schema": SCHEMA}}
    trip = json.loads(complete(user("Plan a trip"), response_format=form).choices[0].message.content)
    assert isinstance(trip["city"], str) and isinstance(trip["days"], int)


def image():
    url = "data:image/png;base64," + base64.b64encode(red_png()).decode()
    content = [{"type": "text", "text": SAY}, {"type": "image_url", "image_url": {"url": url}}]
    assert complete([{"role": "user", "content": content}]).choices[0].message.content == SAID


def wrong_key():
    try:
        complete(user(SAY), api_key="wrong")
    except litellm.AuthenticationError:
        return
    raise AssertionError("it was let in")


def context_overflow():
    try:
        complete(user(TOO_LONG))
    except litellm.ContextWindowExceededError:
        return
    raise AssertionError("it was answered")
