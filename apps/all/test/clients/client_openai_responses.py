"""The openai package, with responses."""

import base64

import openai
from pydantic import BaseModel
from scenarios import API_KEY, ASK_WEATHER, BASE_URL, MODEL, SAID, SAY, TOO_LONG, WEATHER_TOOL, red_png

SCENARIOS = ["chat", "stream", "tools", "structured_output", "image", "wrong_key", "context_overflow"]

client = openai.OpenAI(base_url=BASE_URL, api_key=API_KEY, max_retries=0)
TOOL = {"type": "function", **WEATHER_TOOL["function"]}


class Trip(BaseModel):
    city: str
    days: int


def chat():
    answer = client.responses.create(model=MODEL, input=SAY)
    assert answer.output_text == SAID
    assert answer.status == "completed"
    assert answer.usage.total_tokens == answer.usage.input_tokens + answer.usage.output_tokens


def stream():
    text = ""
    with client.responses.stream(model=MODEL, input=SAY) as events:
        for event in events:
            if event.type == "response.output_text.delta":
                text += event.delta
        final = events.get_final_response()
    assert text == SAID, text
    assert final.output_text == SAID


def tools():
    items = [{"role": "user", "content": ASK_WEATHER}]
    asked = client.responses.create(model=MODEL, input=items, tools=[TOOL])
    call = next(item for item in asked.output if item.type == "function_call")
    assert call.name == "get_weather"
    items += asked.output
    items.append({"type": "function_call_output", "call_id": call.call_id, "output": "sunny, 21 degrees"})
    answer = client.responses.create(model=MODEL, input=items, tools=[TOOL])
    assert "sunny, 21 degrees" in answer.output_text


def structured_output():
    answer = client.responses.parse(model=MODEL, input="Plan a trip", text_format=Trip)
    assert isinstance(answer.output_parsed, Trip)


def image():
    url = "data:image/png;base64," + base64.b64encode(red_png()).decode()
    content = [{"type": "input_text", "text": SAY}, {"type": "input_image", "image_url": url}]
    answer = client.responses.create(model=MODEL, input=[{"role": "user", "content": content}])
    assert answer.output_text == SAID


def wrong_key():
    try:
        openai.OpenAI(base_url=BASE_URL, api_key="wrong", max_retries=0).responses.create(
            model=MODEL, input=SAY
        )
    except openai.AuthenticationError as error:
        assert error.code == "AUTHENTICATION_FAILED", error.code
        return
    raise AssertionError("it was let in")


def context_overflow():
    try:
        client.responses.create(model=MODEL, input=TOO_LONG)
    except openai.BadRequestError as error:
        assert error.code == "context_length_exceeded", error.code
        assert error.param == "input", error.param
        return
    raise AssertionError("it was answered")
