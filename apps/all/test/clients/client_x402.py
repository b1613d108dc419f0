"""The x402 package, which signs in and pays automatically."""

import asyncio
import json
import os

from eth_account import Account
from scenarios import BASE_URL, MODEL, SAID, SAY
from x402 import x402Client
from x402.extensions.sign_in_with_x import CreateSIWxClientExtensionOptions, create_siwx_client_extension
from x402.http.clients import wrapHttpxWithPayment
from x402.http.utils import decode_payment_response_header
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact import ExactEvmScheme

SCENARIOS = ["spend_controls", "top_up", "chat", "stream", "balance", "transactions"]

BASE = "eip155:8453"
TOP_UP_USD = 25

account = Account.from_key(os.environ["SVC_WALLET_KEY"])
messages = [{"role": "user", "content": SAY}]


def client(spend_controls=None):
    signer = EthAccountSigner(account)
    payer = x402Client().register(BASE, ExactEvmScheme(signer))
    payer.register_extension(create_siwx_client_extension(CreateSIWxClientExtensionOptions(signers=[signer])))
    if spend_controls is not None:
        payer.set_spend_controls(spend_controls)
    return wrapHttpxWithPayment(payer, timeout=60)


async def asked(method, path, body=None, spend_controls=None):
    async with client(spend_controls) as http:
        return await http.request(method, BASE_URL + path, json=body)


def ask(method, path, **given):
    return asyncio.run(asked(method, path, **given))


def data_of(response):
    assert response.status_code == 200, response.text
    return response.json()["data"]


def spend_controls():
    try:
        ask("POST", f"/x402/top-up?amount={TOP_UP_USD}")
    except Exception as error:
        assert "max_amount_per_payment" in str(error), error
        return
    raise AssertionError("it paid more than a dollar, which it was not told to")


def top_up():
    allowed = {"max_amount_per_payment": f"${TOP_UP_USD}"}
    response = ask("POST", f"/x402/top-up?amount={TOP_UP_USD}", spend_controls=allowed)
    credited = data_of(response)
    assert credited["walletAddress"] == account.address.lower(), credited
    assert credited["amountCredited"] == credited["newBalance"] == TOP_UP_USD, credited
    receipt = decode_payment_response_header(response.headers["payment-response"])
    assert receipt.success and receipt.network == BASE, receipt


def chat():
    response = ask("POST", "/chat/completions", body={"model": MODEL, "messages": messages})
    assert response.status_code == 200, response.text
    assert response.json()["choices"][0]["message"]["content"] == SAID
    assert 0 < float(response.headers["x-balance-remaining"]) < TOP_UP_USD


def stream():
    asyncio.run(streamed())


async def streamed():
    text = ""
    body = {"model": MODEL, "messages": messages, "stream": True}
    async with client() as http, http.stream("POST", BASE_URL + "/chat/completions", json=body) as response:
        assert response.status_code == 200, await response.aread()
        assert 0 < float(response.headers["x-balance-remaining"]) < TOP_UP_USD
        lines = [line.removeprefix("data: ") async for line in response.aiter_lines() if line.startswith("data: ")]
    assert lines[-1] == "[DONE]", lines
    for line in lines[:-1]:
        for choice in json.loads(line)["choices"]:
            text += choice["delta"].get("content") or ""
    assert text == SAID, text


def balance():
    found = data_of(ask("GET", f"/x402/balance/{account.address}"))
    assert found["canConsume"] is True, found
    assert 0 < found["balanceUsd"] < TOP_UP_USD, found


def transactions():
    found = data_of(ask("GET", f"/x402/transactions/{account.address}"))["transactions"]
    assert [each["type"] for each in found] == ["CHARGE", "CHARGE", "TOP_UP"], found
    assert found[-1]["amount"] == found[-1]["balanceAfter"] == TOP_UP_USD, found
    assert abs(sum(each["amount"] for each in found) - found[0]["balanceAfter"]) < 1e-9, found
