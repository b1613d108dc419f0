"""The llm command, with this server in its file of additional models, once with each kind of API."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

from scenarios import API_KEY, ASK_WEATHER, BASE_URL, MODEL, SAID, SAY, TOO_LONG, red_png

SCENARIOS = ["chat", "stream", "tools", "structured_output", "image", "wrong_key", "context_overflow"]

home = tempfile.TemporaryDirectory()
Path(home.name, "extra-openai-models.yaml").write_text(
    "".join(
        f"""- model_id: {name}
  model_name: {MODEL}
  api_base: {BASE_URL}
  api_key_name: svc
  responses: {responses}
  supports_tools: true
  supports_schema: true
  vision: true
"""
        for name, responses in [("svc-chat", "false"), ("svc-responses", "true")]
    )
)
# client_llm_responses.py selects the other one.
model_id = "svc-chat"
picture = Path(home.name, "red.png")
picture.write_bytes(red_png())


def llm(*arguments, key=API_KEY):
    command = ["llm", "--key", key, "-m", model_id, *arguments]
    environment = {**os.environ, "LLM_USER_PATH": home.name}
    return subprocess.run(command, env=environment, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def answer_of(*arguments):
    done = llm(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def chat():
    assert answer_of("--no-stream", SAY) == SAID


def stream():
    assert answer_of(SAY) == SAID


def tools():
    function = 'def get_weather(city: str) -> str:\n    "The weather of a city"\n    return "sunny, 21 degrees"\n'
    for arguments in [["--no-stream"], []]:
        assert "sunny, 21 degrees" in answer_of(*arguments, "--functions", function, ASK_WEATHER)


def structured_output():
    trip = json.loads(answer_of("--schema", "city str, days int", "Plan a trip"))
    assert isinstance(trip["city"], str) and isinstance(trip["days"], int)


def image():
    assert answer_of("-a", str(picture), SAY) == SAID


def wrong_key():
    done = llm(SAY, key="wrong")
    assert done.returncode != 0
    assert "Authentication failed" in done.stderr, done.stderr


def context_overflow():
    done = llm("--no-stream", TOO_LONG)
    assert done.returncode != 0
    assert "maximum context" in done.stderr, done.stderr
