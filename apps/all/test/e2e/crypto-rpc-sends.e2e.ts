import { randomBytes } from 'node:crypto';
import { base58 } from '@scure/base';
import { LocalChain } from '@svc/infra';
import { type Hex, createPublicClient, createWalletClient, http, keccak256, parseEther } from 'viem';
import { base } from 'viem/chains';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { errorOf, eventually } from '../response-bodies.js';
import { Platform, type TestAccount } from '../platform.js';
import {
  type Posting,
  RECIPIENT,
  type SignedTransfer,
  countOn,
  creditsOf,
  passedOn,
  postRpc,
  rpcPayer,
  sending,
  signedTransfer,
} from '../rpc-payer.js';
import { ScriptedNode, type SentCall, echo } from '../scripted-node.js';
import { evmWallet } from '../wallets.js';

let chain: LocalChain;
let node: ScriptedNode;
let platform: Platform;
let account: TestAccount;

beforeAll(async () => {
  [chain, node] = await Promise.all([LocalChain.start(), ScriptedNode.start()]);
  const scripted = { name: 'scripted', url: node.url };
  const anvil = { name: 'anvil', url: chain.url };
  platform = await Platform.start({
    cryptoRpc: {
      limits: { standard: { requestsPerMinute: 100_000, creditsPerMinute: 100_000_000 } },
      networks: {
        base: { family: 'evm', chainId: 8_453, nodes: [anvil] },
        // The first node is called first.
        two: {
          family: 'evm',
          chainId: 8_453,
          nodes: [
            { ...scripted, weight: 1e9 },
            { ...anvil, weight: 1e-9 },
          ],
        },
        scripted: { family: 'evm', nodes: [scripted] },
        solana: { family: 'solana', credits: 30, nodes: [scripted] },
        starknet: { family: 'starknet', nodes: [scripted] },
        away: { family: 'evm', nodes: [{ url: 'http://127.0.0.1:1' }] },
      },
    },
  });
  account = await platform.account('100.00');
});
afterAll(async () => {
  await Promise.all([platform.stop(), chain.stop(), node.stop()]);
});
beforeEach(() => {
  node.answer = echo;
  node.sent.length = 0;
});

const post = (network: string, body: unknown, posting: Posting = {}): Promise<Response> =>
  postRpc(platform, { network, by: account, ...posting }, body);
const transfer = (over?: Parameters<typeof signedTransfer>[1]): Promise<SignedTransfer> =>
  signedTransfer(chain, over);
const sentBy = (address: string): Promise<number> => countOn(chain, address);
const onChain = (call: SentCall | undefined): Promise<{ body: string }> => passedOn(chain, call);

describe('a transaction', () => {
  it('is sent by viem, and its receipt read; the balance pays the credits of the headers', async () => {
    const own = await rpcPayer(platform);
    let credits = 0;
    const transport = http(`${platform.apiUrl}/crypto/rpc/base`, {
      fetchOptions: { headers: { authorization: `Bearer ${own.apiKey}` } },
      onFetchResponse: (response) => {
        credits += creditsOf(response);
      },
    });
    const wallet = evmWallet();
    await chain.fund(wallet.address);
    const client = createWalletClient({ account: wallet.account, chain: base, transport });
    const hash = await client.sendTransaction({ to: RECIPIENT, value: parseEther('1') });
    const receipt = await createPublicClient({ chain: base, transport }).waitForTransactionReceipt({
      hash,
      pollingInterval: 50,
    });
    expect(receipt.status).toBe('success');
    await eventually('it is charged', async () => (await own.charged()) === credits);
  });

  it('that the chain has is a success however often it is sent, and executed once', async () => {
    const { raw, hash, from } = await transfer();
    const own = await rpcPayer(platform);
    for (let time = 1; time <= 3; time += 1) {
      const response = await post('base', sending(raw), { by: own });
      expect(await response.json()).toEqual({ jsonrpc: '2.0', id: 1, result: hash });
      expect(creditsOf(response)).toBe(20);
    }
    expect(await sentBy(from)).toBe(1);
    await eventually('it is charged', async () => (await own.charged()) === 60);
  });

  it.each(['already known', 'nonce too low', 'ALREADY_EXISTS', 'whatever a node says'])(
    'is a success after the error "%s" if the chain has it',
    async (message) => {
      const { raw, hash } = await transfer();
      node.answer = ([call]) => ({
        body: JSON.stringify(
          call?.method === 'eth_getTransactionByHash'
            ? { id: 0, result: { hash } }
            : { id: 0, error: { code: -32_000, message } },
        ),
      });
      const response = await post('scripted', sending(raw));
      expect(await response.json()).toMatchObject({ result: hash });
      expect(creditsOf(response)).toBe(20);
      expect(node.methods).toEqual(['eth_sendRawTransaction', 'eth_getTransactionByHash']);
    },
  );

  it('whose nonce another one has used is an error', async () => {
    const first = await transfer();
    const wallet = evmWallet();
    await chain.fund(wallet.address);
    const base = { chainId: 8_453, to: RECIPIENT, nonce: 0, gas: 21_000n, maxFeePerGas: 10n ** 11n } as const;
    await post('base', sending(await wallet.account.signTransaction({ ...base, value: 1n })));
    expect(await sentBy(wallet.address)).toBe(1);
    const response = await post(
      'base',
      sending(await wallet.account.signTransaction({ ...base, value: 2n })),
    );
    expect(await response.json()).toMatchObject({
      error: { message: expect.stringMatching(/nonce too low/i) as string },
    });
    expect(creditsOf(response)).toBe(5);
    expect(await sentBy(first.from)).toBe(0);
  });

  it('that a node takes and then breaks off is found at another node, and not sent again', async () => {
    const { raw, hash, from } = await transfer();
    node.answer = async ([call]) => {
      await onChain(call);
      return undefined;
    };
    const response = await post('two', sending(raw));
    expect(await response.json()).toMatchObject({ result: hash });
    expect(await sentBy(from)).toBe(1);
    expect(node.methods.filter((method) => method === 'eth_sendRawTransaction')).toHaveLength(1);
  });

  it('that a broken node has not passed on is sent to another node', async () => {
    const { raw, hash, from } = await transfer();
    node.answer = () => undefined;
    const response = await post('two', sending(raw));
    expect(await response.json()).toMatchObject({ result: hash });
    expect(await sentBy(from)).toBe(1);
  });

  it('of which no node says anything is reported as unknown, free of charge', async () => {
    const { raw, hash } = await transfer();
    node.answer = () => undefined;
    const response = await post('scripted', sending(raw));
    expect(await response.json()).toMatchObject({
      error: { code: -32_000, message: expect.stringContaining(hash) as string },
    });
    expect(creditsOf(response)).toBe(0);
    expect(node.methods.filter((method) => method === 'eth_sendRawTransaction')).toHaveLength(2);
  });

  it('that reached no node is refused, free of charge', async () => {
    const { raw } = await transfer();
    const response = await post('away', sending(raw));
    expect([response.status, (await errorOf(response)).error.code]).toEqual([503, 'UNAVAILABLE']);
  });

  it('is sent in the order of a list, alone, beside its reads', async () => {
    const list = await Promise.all([transfer({}), transfer({ value: 2n })]);
    node.answer = (calls) => {
      const results = calls.map(({ id, params }) => ({ id, result: [params].flat()[0] ?? 'read' }));
      return { body: JSON.stringify(results.length > 1 ? results : results[0]) };
    };
    const response = await post('scripted', [
      sending(list[0].raw, 1),
      { id: 2, method: 'eth_blockNumber' },
      sending(list[1].raw, 3),
      { id: 4, method: 'eth_gasPrice' },
    ]);
    expect(await response.json()).toMatchObject([
      { id: 1, result: list[0].raw },
      { id: 2, result: 'read' },
      { id: 3, result: list[1].raw },
      { id: 4, result: 'read' },
    ]);
    expect(creditsOf(response)).toBe(80);
    expect(node.sent).toHaveLength(3);
    const sent = node.sent.filter((text) => text.includes('sendRaw'));
    expect(sent.map((text) => (JSON.parse(text) as SentCall).params)).toEqual([[list[0].raw], [list[1].raw]]);
  });

  it.each([
    ['signed for another chain', () => transfer({ chainId: 1 }), /must be signed for chain 8453, not 1/],
    ['that is cut off', () => Promise.resolve({ raw: '0x02ff' }), /signed transaction in hexadecimal/],
    ['in another notation', () => Promise.resolve({ raw: 'AAAA' }), /signed transaction in hexadecimal/],
    ['without its text', () => Promise.resolve({ raw: 7 }), /must be a signed transaction/],
  ])('%s reaches no node', async (_, made, message) => {
    const { raw } = (await made()) as { raw: string };
    const own = await rpcPayer(platform);
    const response = await post('two', [{ id: 1, method: 'eth_chainId' }, sending(raw)], { by: own });
    expect(response.status).toBe(400);
    const { error } = await errorOf(response);
    expect(error).toMatchObject({ code: 'INVALID_REQUEST', param: '1.params.0' });
    expect(error.message).toMatch(message);
    expect(node.sent).toEqual([]);
  });

  it('with a large input is sent whole', async () => {
    const wallet = evmWallet();
    const raw = await wallet.account.signTransaction({
      chainId: 1,
      nonce: 0,
      gas: 1n,
      maxFeePerGas: 1n,
      data: `0x${'ab'.repeat(120_000)}`,
    });
    node.answer = ([call]) => ({
      body: JSON.stringify({ id: 0, result: keccak256([call?.params].flat()[0] as Hex) }),
    });
    expect(await (await post('scripted', sending(raw))).json()).toMatchObject({ result: keccak256(raw) });
  });

  it('is charged although the client has left', async () => {
    const { raw, from } = await transfer();
    const own = await rpcPayer(platform);
    const leaving = new AbortController();
    node.answer = async ([call]) => {
      leaving.abort();
      return onChain(call);
    };
    await expect(post('scripted', sending(raw), { by: own, signal: leaving.signal })).rejects.toThrow(
      'aborted',
    );
    await eventually('it is charged', async () => (await own.charged()) === 20);
    expect(await sentBy(from)).toBe(1);
  });

  it('is logged with its hash, without its content', async () => {
    const { raw, hash } = await transfer();
    const response = await post('base', sending(raw));
    const requestId = response.headers.get('x-request-id') ?? '';
    let log = '';
    await eventually('it is logged', async () => {
      log = await platform.log();
      return log.includes(hash);
    });
    const line = log.split('\n').find((text) => text.includes(hash)) ?? '';
    expect(JSON.parse(line)).toMatchObject({
      requestId,
      accountId: account.id,
      network: 'base',
      method: 'eth_sendRawTransaction',
      transaction: hash,
    });
    expect(log).not.toContain(raw.slice(2, 60));
  });
});

describe('a transaction of Solana', () => {
  const signature = randomBytes(64);
  const wire = Buffer.concat([Buffer.from([1]), signature, randomBytes(100)]);

  it.each(['base58', 'base64'] as const)(
    'in %s is looked up by its signature after an error',
    async (encoding) => {
      const raw = encoding === 'base58' ? base58.encode(wire) : wire.toString('base64');
      node.answer = ([call]) => ({
        body: JSON.stringify(
          call?.method === 'getSignatureStatuses'
            ? { id: 0, result: { value: [{ slot: 1, err: null }] } }
            : { id: 0, error: { code: -32_002, message: 'This transaction has already been processed' } },
        ),
      });
      const call = { id: 1, method: 'sendTransaction', params: [raw, { encoding }] };
      expect(await (await post('solana', call)).json()).toMatchObject({ result: base58.encode(signature) });
      expect((JSON.parse(node.sent[1] ?? '') as SentCall).params).toMatchObject([
        [base58.encode(signature)],
        {},
      ]);
    },
  );

  it.each([
    ['', {}],
    ['abc', { encoding: 'base58' }],
    ['!', { encoding: 'base64' }],
    ['1'.repeat(5_000), {}],
    [wire.toString('base64'), { encoding: 'base32' }],
  ])('that cannot be read reaches no node: %#', async (raw, options) => {
    const response = await post('solana', { id: 1, method: 'sendTransaction', params: [raw, options] });
    expect([response.status, (await errorOf(response)).error.code]).toEqual([400, 'INVALID_REQUEST']);
    expect(node.sent).toEqual([]);
  });
});

describe('a transaction of Starknet', () => {
  const call = { id: 1, method: 'starknet_addInvokeTransaction', params: { invoke_transaction: {} } };

  it('is sent once, whatever the node does', async () => {
    node.answer = () => ({ body: '{"id":0,"result":{"transaction_hash":"0x1"}}' });
    const response = await post('starknet', call);
    expect(await response.json()).toMatchObject({ result: { transaction_hash: '0x1' } });
    node.answer = () => undefined;
    expect(await (await post('starknet', call)).json()).toMatchObject({ error: { code: -32_000 } });
    expect(node.sent).toHaveLength(2);
  });
});
