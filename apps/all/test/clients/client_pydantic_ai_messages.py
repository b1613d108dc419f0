"""The pydantic-ai package, with messages."""

import asyncio

from pydantic import BaseModel
from pydantic_ai import Agent, BinaryContent, ModelHTTPError
from pydantic_ai.models.anthropic import AnthropicModel
from pydantic_ai.providers.anthropic import AnthropicProvider
from scenarios import API_KEY, ASK_WEATHER, BASE_URL, MODEL, SAID, SAY, TOO_LONG, red_png

SCENARIOS = [
    "chat",
    "stream",
    "tools",
    "structured_output",
    "image",
    "wrong_key",
    "context_overflow",
]


class Trip(BaseModel):
    city: str
    days: int


def model(api_key=API_KEY):
    return AnthropicModel(MODEL, provider=AnthropicProvider(base_url=BASE_URL.removesuffix("/v1"), api_key=api_key))


def chat():
    result = Agent(model()).run_sync(SAY)
    assert result.output == SAID
    assert result.usage.output_tokens > 0


def stream():
    async def run():
        async with Agent(model()).run_stream(SAY) as result:
            return "".join([text async for text in result.stream_text(delta=True)])

    assert asyncio.run(run()) == SAID


def tools():
    agent = Agent(model())
    asked = []

    @agent.tool_plain
    def get_weather(city: str) -> str:
        """The weather of a city"""
        asked.append(city)
        return "sunny, 21 degrees"

    assert "sunny, 21 degrees" in agent.run_sync(ASK_WEATHER).output
    assert len(asked) == 1


def structured_output():
    assert isinstance(Agent(model(), output_type=Trip).run_sync("Plan a trip").output, Trip)


def image():
    assert Agent(model()).run_sync([SAY, BinaryContent(red_png(), media_type="image/png")]).output == SAID


def refused(text, api_key=API_KEY):
    try:
        Agent(model(api_key)).run_sync(text)
    except ModelHTTPError as error:
        return error
    raise AssertionError("it was answered")


def wrong_key():
    assert refused(SAY, "wrong").status_code == 401


def context_overflow():
    error = refused(TOO_LONG)
    assert error.status_code == 400
    assert error.body["type"] == "error", error.body
