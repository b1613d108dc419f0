"""Reads a YAML file as YAML 1.1 and prints it as JSON. Types that JSON lacks are printed as Python's repr."""

import json
import sys

import yaml

with open(sys.argv[1], encoding="utf-8") as file:
    print(json.dumps(yaml.safe_load(file), default=repr))
