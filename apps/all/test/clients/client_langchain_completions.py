"""The langchain-openai package, with text completions."""

import openai
from langchain_openai import OpenAI
from scenarios import API_KEY, BASE_URL, MODEL, SAID, SAY, TOO_LONG

SCENARIOS = ["text", "stream", "batch", "wrong_key", "context_overflow"]


def model(api_key=API_KEY, **fields):
    return OpenAI(model=MODEL, base_url=BASE_URL, api_key=api_key, max_retries=0, **fields)


def text():
    # A list of one prompt.
    assert model().invoke(SAY) == SAID


def stream():
    assert "".join(model().stream(SAY)) == SAID


def batch():
    # By default it sends up to 20 prompts in a request.
    assert model(batch_size=1).batch([SAY, SAY]) == [SAID, SAID]


def refused(error_type, text, api_key=API_KEY):
    try:
        model(api_key).invoke(text)
    except error_type as error:
        return error
    raise AssertionError("it was answered")


def wrong_key():
    error = refused(openai.AuthenticationError, SAY, "wrong")
    assert error.code == "AUTHENTICATION_FAILED", error.code


def context_overflow():
    error = refused(openai.BadRequestError, TOO_LONG)
    assert error.code == "context_length_exceeded", error.code
