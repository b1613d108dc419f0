"""web3.py on a local chain, and at its limit of requests."""

import os
import time

from eth_account import Account
from scenarios import API_KEY
from web3 import HTTPProvider, Web3

SCENARIOS = ["reads", "batch", "transaction", "node_error", "limit"]

CHAIN_ID = 8453
RECIPIENT = "0x00000000000000000000000000000000000000AA"


def client(url, key):
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    return Web3(HTTPProvider(url, request_kwargs={"headers": headers}))


account = Account.from_key(os.environ["SVC_WALLET_KEY"])
w3 = client(os.environ["SVC_RPC_URL"], API_KEY)


def reads():
    assert w3.eth.chain_id == CHAIN_ID
    assert w3.eth.get_balance(account.address) > 0
    assert w3.eth.get_block("latest")["number"] >= 0


def batch():
    with w3.batch_requests() as requests:
        requests.add(w3.eth.get_block("latest"))
        requests.add(w3.eth.get_balance(account.address))
        block, balance = requests.execute()
    assert block["number"] >= 0 and balance > 0, (block, balance)


def transaction():
    to_sign = {
        "chainId": CHAIN_ID,
        "to": RECIPIENT,
        "value": 7,
        "nonce": w3.eth.get_transaction_count(account.address),
        "gas": 21_000,
        "maxFeePerGas": 10**11,
        "maxPriorityFeePerGas": 1,
    }
    signed = account.sign_transaction(to_sign)
    sent = w3.eth.send_raw_transaction(signed.raw_transaction)
    assert sent == signed.hash
    receipt = w3.eth.wait_for_transaction_receipt(sent, timeout=60, poll_latency=0.05)
    assert receipt["status"] == 1, receipt
    # The same transaction again is the same transaction.
    assert w3.eth.send_raw_transaction(signed.raw_transaction) == signed.hash
    assert w3.eth.get_balance(RECIPIENT) == 7


def node_error():
    try:
        w3.eth.call({"to": RECIPIENT, "gas": 1})
    except Exception as error:
        assert "gas" in str(error), error
        return
    raise AssertionError("a call with one unit of gas was executed")


def limit():
    limited = client(os.environ["SVC_LIMITED_RPC_URL"], os.environ["SVC_LIMITED_API_KEY"])
    # A minute may end between two calls, but not between all of them.
    for _ in range(3):
        start = time.monotonic()
        try:
            limited.eth.block_number
        except Exception as error:
            assert "429" in str(error), error
            assert time.monotonic() - start < 10
            return
    raise AssertionError("three calls within a minute were made, although one is allowed")
