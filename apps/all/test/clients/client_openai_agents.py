"""The openai-agents package, which uses responses by default."""

import asyncio
import base64

import openai
from agents import Agent, OpenAIProvider, RunConfig, Runner, function_tool
from agents.stream_events import RawResponsesStreamEvent
from pydantic import BaseModel
from scenarios import API_KEY, ASK_WEATHER, BASE_URL, MODEL, SAID, SAY, TOO_LONG, red_png

SCENARIOS = ["chat", "stream", "tools", "structured_output", "image", "wrong_key", "context_overflow"]


class Trip(BaseModel):
    city: str
    days: int


# The package keeps its connections, which belong to one event loop.
loop = asyncio.new_event_loop()
asked = []


@function_tool
def get_weather(city: str) -> str:
    """The weather of a city"""
    asked.append(city)
    return "sunny, 21 degrees"


def settings(api_key=API_KEY):
    # Traces would be sent to OpenAI.
    return RunConfig(
        model_provider=OpenAIProvider(base_url=BASE_URL, api_key=api_key), tracing_disabled=True
    )


def agent(**fields):
    return Agent(name="assistant", instructions="Be brief.", model=MODEL, **fields)


def run(text, api_key=API_KEY, **fields):
    return loop.run_until_complete(Runner.run(agent(**fields), text, run_config=settings(api_key)))


async def streamed(text, **fields):
    """The text as it was streamed, and the final output."""
    result = Runner.run_streamed(agent(**fields), text, run_config=settings())
    deltas = ""
    async for event in result.stream_events():
        if isinstance(event, RawResponsesStreamEvent) and event.data.type == "response.output_text.delta":
            deltas += event.data.delta
    return deltas, result.final_output


def chat():
    result = run(SAY)
    assert result.final_output == SAID
    usage = result.context_wrapper.usage
    assert usage.requests == 1
    assert usage.total_tokens == usage.input_tokens + usage.output_tokens > 0


def stream():
    assert loop.run_until_complete(streamed(SAY)) == (SAID, SAID)


def tools():
    asked.clear()
    assert "sunny, 21 degrees" in run(ASK_WEATHER, tools=[get_weather]).final_output
    _, output = loop.run_until_complete(streamed(ASK_WEATHER, tools=[get_weather]))
    assert "sunny, 21 degrees" in output
    assert len(asked) == 2


def structured_output():
    assert isinstance(run("Plan a trip", output_type=Trip).final_output, Trip)


def image():
    url = "data:image/png;base64," + base64.b64encode(red_png()).decode()
    content = [
        {"type": "input_text", "text": SAY},
        {"type": "input_image", "image_url": url, "detail": "auto"},
    ]
    assert run([{"role": "user", "content": content}]).final_output == SAID


def wrong_key():
    try:
        run(SAY, "wrong")
    except openai.AuthenticationError as error:
        assert error.code == "AUTHENTICATION_FAILED", error.code
        return
    raise AssertionError("it was let in")


def context_overflow():
    try:
        run(TOO_LONG)
    except openai.BadRequestError as error:
        assert error.code == "context_length_exceeded", error.code
        return
    raise AssertionError("it was answered")
