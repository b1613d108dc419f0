"""Asks the service through a client that openapi-python-client has made; writes what it has read as JSON."""

import importlib
import json
import sys

name, folder, url = sys.argv[1:]
sys.path.insert(0, folder)
package = importlib.import_module("generated")
models = importlib.import_module("generated.models")
client = package.Client(base_url=url)


def ids():
    """Of the models on offer, or what the operator's API says of health."""
    if name == "operator":
        healthz = importlib.import_module("generated.api.health.healthz")
        return [healthz.sync(client=client).status]
    list_models = importlib.import_module("generated.api.models.list_models")
    return [model.id for model in list_models.sync(client=client).data]


print(json.dumps({"models": models.__all__, "ids": ids()}))
