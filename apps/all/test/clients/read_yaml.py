"""Writes a YAML file as JSON, read as YAML 1.1. What JSON does not have is written as Python has it."""

import json
import sys

import yaml

with open(sys.argv[1], encoding="utf-8") as file:
    print(json.dumps(yaml.safe_load(file), default=repr))
