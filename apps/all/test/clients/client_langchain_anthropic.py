"""The langchain-anthropic package."""

import base64

import anthropic
from langchain_anthropic import ChatAnthropic
from langchain_core.messages import HumanMessage, ToolMessage
from pydantic import BaseModel
from scenarios import API_KEY, ASK_WEATHER, BASE_URL, MODEL, SAID, SAY, TOO_LONG, WEATHER_TOOL, red_png

SCENARIOS = ["chat", "stream", "tools", "structured_output", "image", "wrong_key", "context_overflow"]


class Trip(BaseModel):
    city: str
    days: int


def model(api_key=API_KEY):
    root = BASE_URL.removesuffix("/v1")
    return ChatAnthropic(model=MODEL, base_url=root, api_key=api_key, max_retries=0, max_tokens=500)


def chat():
    answer = model().invoke(SAY)
    assert answer.text == SAID
    assert answer.usage_metadata["total_tokens"] > 0


def stream():
    assert "".join(chunk.text for chunk in model().stream(SAY)) == SAID


def tools():
    bound = model().bind_tools([WEATHER_TOOL])
    messages = [HumanMessage(ASK_WEATHER)]
    asked = bound.invoke(messages)
    call = asked.tool_calls[0]
    assert call["name"] == "get_weather"
    messages += [asked, ToolMessage("sunny, 21 degrees", tool_call_id=call["id"])]
    assert "sunny, 21 degrees" in bound.invoke(messages).text


def structured_output():
    assert isinstance(model().with_structured_output(Trip).invoke("Plan a trip"), Trip)


def image():
    url = "data:image/png;base64," + base64.b64encode(red_png()).decode()
    content = [{"type": "text", "text": SAY}, {"type": "image_url", "image_url": {"url": url}}]
    assert model().invoke([HumanMessage(content)]).text == SAID


def wrong_key():
    try:
        model("wrong").invoke(SAY)
    except anthropic.AuthenticationError:
        return
    raise AssertionError("it was let in")


def context_overflow():
    try:
        model().invoke(TOO_LONG)
    except anthropic.BadRequestError:
        return
    raise AssertionError("it was answered")
