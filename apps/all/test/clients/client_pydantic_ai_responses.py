"""The pydantic-ai package, with responses."""

import asyncio

from pydantic import BaseModel
from pydantic_ai import Agent, BinaryContent, ModelHTTPError
from pydantic_ai.models.openai import OpenAIResponsesModel
from pydantic_ai.providers.openai import OpenAIProvider
from scenarios import API_KEY, ASK_WEATHER, BASE_URL, MODEL, SAID, SAY, TOO_LONG, red_png

SCENARIOS = [
    "chat",
    "stream",
    "tools",
    "structured_output",
    "structured_output_by_tool",
    "image",
    "wrong_key",
    "context_overflow",
]


class Trip(BaseModel):
    city: str
    days: int


def model(api_key=API_KEY):
    return OpenAIResponsesModel(MODEL, provider=OpenAIProvider(base_url=BASE_URL, api_key=api_key))


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
    from pydantic_ai import NativeOutput

    assert isinstance(Agent(model(), output_type=NativeOutput(Trip)).run_sync("Plan a trip").output, Trip)


def structured_output_by_tool():
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
    assert error.body["code"] == "context_length_exceeded", error.body
