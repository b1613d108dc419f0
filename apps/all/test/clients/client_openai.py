"""The openai package."""

import base64
import os
import tempfile
import wave

import openai
from pydantic import BaseModel
from scenarios import (
    API_KEY,
    ASK_WEATHER,
    BASE_URL,
    EDIT_MODEL,
    EMBEDDING_MODEL,
    IMAGE_MODEL,
    MODEL,
    SAID,
    SAY,
    SPEECH_MODEL,
    TOO_LONG,
    TRANSCRIPTION_MODEL,
    WEATHER_TOOL,
    red_png,
)

SCENARIOS = [
    "chat",
    "stream",
    "stream_with_usage",
    "tools",
    "structured_output",
    "image",
    "models",
    "embeddings",
    "speech",
    "streamed_speech",
    "transcription",
    "images",
    "image_edits",
    "wrong_key",
    "context_overflow",
]

client = openai.OpenAI(base_url=BASE_URL, api_key=API_KEY, max_retries=0)


class Trip(BaseModel):
    city: str
    days: int


def user(text):
    return [{"role": "user", "content": text}]


def chat():
    answer = client.chat.completions.create(model=MODEL, messages=user(SAY))
    assert answer.choices[0].message.content == SAID
    assert answer.choices[0].finish_reason == "stop"
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens


def stream():
    text = ""
    finish = None
    for chunk in client.chat.completions.create(model=MODEL, messages=user(SAY), stream=True):
        text += chunk.choices[0].delta.content or ""
        finish = chunk.choices[0].finish_reason or finish
    assert text == SAID, text
    assert finish == "stop", finish


def stream_with_usage():
    options = {"include_usage": True}
    chunks = list(
        client.chat.completions.create(model=MODEL, messages=user(SAY), stream=True, stream_options=options)
    )
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks[:-1]) == SAID
    assert all(chunk.usage is None for chunk in chunks[:-1])
    assert chunks[-1].choices == []
    assert chunks[-1].usage.total_tokens > 0


def tools():
    messages = user(ASK_WEATHER)
    asked = client.chat.completions.create(model=MODEL, messages=messages, tools=[WEATHER_TOOL])
    assert asked.choices[0].finish_reason == "tool_calls"
    call = asked.choices[0].message.tool_calls[0]
    assert call.function.name == "get_weather"
    messages.append(asked.choices[0].message)
    messages.append({"role": "tool", "tool_call_id": call.id, "content": "sunny, 21 degrees"})
    answer = client.chat.completions.create(model=MODEL, messages=messages, tools=[WEATHER_TOOL])
    assert "sunny, 21 degrees" in answer.choices[0].message.content


def structured_output():
    answer = client.chat.completions.parse(model=MODEL, messages=user("Plan a trip"), response_format=Trip)
    assert isinstance(answer.choices[0].message.parsed, Trip)


def image():
    url = "data:image/png;base64," + base64.b64encode(red_png()).decode()
    content = [{"type": "text", "text": SAY}, {"type": "image_url", "image_url": {"url": url}}]
    answer = client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": content}])
    assert answer.choices[0].message.content == SAID


def models():
    assert MODEL in [model.id for model in client.models.list()]


def embeddings():
    texts = ["alpha", "beta"]
    # By default it requests base64.
    default = client.embeddings.create(model=EMBEDDING_MODEL, input=texts)
    floats = client.embeddings.create(model=EMBEDDING_MODEL, input=texts, encoding_format="float")
    assert [row.embedding for row in default.data] == [row.embedding for row in floats.data]
    assert len(default.data[0].embedding) == 1024
    assert default.usage.prompt_tokens > 0
    try:
        client.embeddings.create(model=EMBEDDING_MODEL, input=[[1, 2]])
    except openai.BadRequestError as error:
        assert "check_embedding_ctx_length=False" in error.message, error.message
        return
    raise AssertionError("tokens were taken")


def speech():
    answer = client.audio.speech.create(model=SPEECH_MODEL, voice="alloy", input=SAID, response_format="wav")
    assert answer.content.startswith(b"RIFF")
    assert answer.response.headers["content-type"] == "audio/wav"
    try:
        client.audio.speech.create(model=SPEECH_MODEL, voice="clara", input=SAID)
    except openai.BadRequestError as error:
        assert error.param == "voice", error.param
        return
    raise AssertionError("an unknown voice spoke")


def streamed_speech():
    speech = client.audio.speech.with_streaming_response
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "speech.flac")
        with speech.create(
            model=SPEECH_MODEL,
            voice="alloy",
            input=SAID,
            response_format="flac",
            extra_body={"streaming": True},
        ) as answer:
            assert "content-length" not in answer.headers
            answer.stream_to_file(path)
        with open(path, "rb") as file:
            assert file.read(4) == b"fLaC"


def transcription():
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "speech.wav")
        with wave.open(path, "wb") as silence:
            silence.setparams((1, 2, 8000, 0, "NONE", ""))
            silence.writeframes(bytes(16000))
        texts = {}
        for format in ["json", "verbose_json", "text", "srt", "vtt"]:
            with open(path, "rb") as file:
                texts[format] = client.audio.transcriptions.create(
                    model=TRANSCRIPTION_MODEL,
                    file=file,
                    response_format=format,
                    timestamp_granularities=["word", "segment"],
                )
    verbose = texts["verbose_json"]
    assert verbose.duration == 1, verbose.duration
    assert " ".join(word.word for word in verbose.words) == verbose.text
    assert texts["json"].text == verbose.text
    assert texts["text"] == verbose.text, texts["text"]
    assert texts["srt"].startswith("1\n00:00:00,000 --> 00:00:01,000\n"), texts["srt"]
    assert texts["vtt"].startswith("WEBVTT\n"), texts["vtt"]


def images():
    answer = client.images.generate(model=IMAGE_MODEL, prompt=SAID, n=2, size="512x512")
    assert len(answer.data) == 2
    assert all(base64.b64decode(image.b64_json).startswith(b"\x89PNG") for image in answer.data)


def image_edits():
    pictures = [("one.png", red_png()), ("two.png", red_png())]
    answer = client.images.edit(model=EDIT_MODEL, prompt=SAID, image=pictures, output_format="jpeg")
    assert base64.b64decode(answer.data[0].b64_json).startswith(b"\xff\xd8")
    try:
        client.images.edit(model=EDIT_MODEL, prompt=SAID, image=[*pictures, ("three.png", b"no picture")])
    except openai.BadRequestError as error:
        assert error.param == "image.2", error.param
        return
    raise AssertionError("something else was edited")


def wrong_key():
    try:
        openai.OpenAI(base_url=BASE_URL, api_key="wrong", max_retries=0).models.with_raw_response.list()
        openai.OpenAI(base_url=BASE_URL, api_key="wrong", max_retries=0).chat.completions.create(
            model=MODEL, messages=user(SAY)
        )
    except openai.AuthenticationError as error:
        assert error.code == "AUTHENTICATION_FAILED", error.code
        return
    raise AssertionError("it was let in")


def context_overflow():
    try:
        client.chat.completions.create(model=MODEL, messages=user(TOO_LONG))
    except openai.BadRequestError as error:
        assert error.code == "context_length_exceeded", error.code
        assert error.param == "messages", error.param
        return
    raise AssertionError("it was answered")
