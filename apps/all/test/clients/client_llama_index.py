"""The llama-index-llms-openai-like package."""

import openai
from llama_index.core.llms import ChatMessage
from llama_index.llms.openai_like import OpenAILike
from scenarios import API_KEY, BASE_URL, MODEL, SAID, SAY

SCENARIOS = ["chat", "stream", "wrong_key"]


def model(api_key=API_KEY):
    return OpenAILike(
        model=MODEL, api_base=BASE_URL, api_key=api_key, is_chat_model=True, max_retries=0
    )


def chat():
    answer = model().chat([ChatMessage(role="user", content=SAY)])
    assert answer.message.content == SAID
    assert answer.raw.usage.total_tokens > 0


def stream():
    pieces = model().stream_chat([ChatMessage(role="user", content=SAY)])
    assert "".join(piece.delta or "" for piece in pieces) == SAID


def wrong_key():
    try:
        model("wrong").chat([ChatMessage(role="user", content=SAY)])
    except openai.AuthenticationError:
        return
    raise AssertionError("it was let in")
