"""Gives valid requests the name of an existing model: otherwise all of them would get a 404."""

import schemathesis

MODEL = "test-model"


@schemathesis.hook
def before_call(context, case, kwargs):
    if case.meta and case.meta.generation.mode.is_positive and isinstance(case.body, dict) and "model" in case.body:
        case.body["model"] = MODEL
