"""Runs the scenarios of one client, in order, and prints a line of JSON for each."""

import importlib
import json
import os
import struct
import sys
import traceback
import zlib

BASE_URL = os.environ["SVC_URL"]
# Empty for wallets.
API_KEY = os.environ.get("SVC_API_KEY", "")
MODEL = "test-model"
EMBEDDING_MODEL = "test-embeddings"
SPEECH_MODEL = "test-speech"
TRANSCRIPTION_MODEL = "test-transcription"
IMAGE_MODEL = "test-image"
EDIT_MODEL = "test-edit"
SAID = "héllo wörld 🙂"
SAY = f"Reply exactly: {SAID}"
ASK_WEATHER = "What is the weather in Oslo?"
# The simulator refuses this prompt as longer than the model's context.
TOO_LONG = "[[sim fault=context_length]]"

WEATHER_TOOL = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather of a city",
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
        },
    },
}


def red_png(pixels: int = 128) -> bytes:
    """A red square, as a PNG file."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    header = struct.pack(">IIBBBBB", pixels, pixels, 8, 2, 0, 0, 0)
    rows = (b"\x00" + b"\xff\x00\x00" * pixels) * pixels
    parts = chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + parts


def main() -> None:
    client = importlib.import_module(sys.argv[1])
    for name in client.SCENARIOS:
        try:
            getattr(client, name)()
            fault = None
        except Exception:
            fault = traceback.format_exc()
        print("RESULT " + json.dumps({"name": name, "fault": fault}), flush=True)


if __name__ == "__main__":
    # The clients import this file as `scenarios`.
    sys.modules["scenarios"] = sys.modules["__main__"]
    main()
