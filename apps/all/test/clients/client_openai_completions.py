"""The openai package, with text completions."""

import openai
from scenarios import API_KEY, BASE_URL, MODEL, SAID, SAY, TOO_LONG

SCENARIOS = ["text", "stream", "choices", "several_prompts", "wrong_key", "context_overflow"]

client = openai.OpenAI(base_url=BASE_URL, api_key=API_KEY, max_retries=0)


def complete(prompt, **fields):
    return client.completions.create(model=MODEL, prompt=prompt, max_tokens=100, **fields)


def refused(error_type, prompt, client=client):
    try:
        client.completions.create(model=MODEL, prompt=prompt)
    except error_type as error:
        return error
    raise AssertionError("it was answered")


def text():
    for prompt in [SAY, [SAY]]:
        answer = complete(prompt)
        assert answer.choices[0].text == SAID
        assert answer.choices[0].finish_reason == "stop"
        usage = answer.usage
        assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens


def stream():
    chunks = list(complete(SAY, stream=True))
    assert "".join(chunk.choices[0].text for chunk in chunks if chunk.choices) == SAID
    assert chunks[-1].usage.completion_tokens > 0


def choices():
    answer = complete(SAY, n=2, echo=True)
    assert [choice.index for choice in answer.choices] == [0, 1]
    assert all(choice.text.startswith(SAY) for choice in answer.choices)


def several_prompts():
    error = refused(openai.BadRequestError, ["one", "two"])
    assert error.param == "prompt", error.param
    assert "one request for each prompt" in error.message, error.message


def wrong_key():
    stranger = openai.OpenAI(base_url=BASE_URL, api_key="wrong", max_retries=0)
    error = refused(openai.AuthenticationError, SAY, stranger)
    assert error.code == "AUTHENTICATION_FAILED", error.code


def context_overflow():
    error = refused(openai.BadRequestError, TOO_LONG)
    assert error.code == "context_length_exceeded", error.code
