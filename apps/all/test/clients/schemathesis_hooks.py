"""Gives valid requests the names of existing models: otherwise all of them would get a 404, or a 400 for others to fall back to."""

import schemathesis

MODEL = "test-model"


@schemathesis.hook
def before_call(context, case, kwargs):
    body = case.body
    if not (case.meta and case.meta.generation.mode.is_positive and isinstance(body, dict) and "model" in body):
        return
    body["model"] = MODEL
    if isinstance(body.get("models"), list):
        body["models"] = [MODEL for _ in body["models"]]
    for other in body.get("fallbacks") or []:
        other["model"] = MODEL
