import { LocalChain, LocalSolana } from '@svc/infra';
import { FetchRequest, JsonRpcProvider, Wallet } from 'ethers';
import {
  address,
  appendTransactionMessageInstruction,
  createKeyPairSignerFromBytes,
  createSolanaRpc,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getSignatureFromTransaction,
  setTransactionMessageFeePayerSigner,
  setTransactionMessageLifetimeUsingBlockhash,
  signTransactionMessageWithSigners,
} from 'solana-kit';
import { http, createPublicClient, createWalletClient, parseEther } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { base } from 'viem/chains';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CountingProxy } from '../counting-proxy.js';
import { Platform } from '../platform.js';
import { eventually } from '../response-bodies.js';
import { RECIPIENT, rpcPayer } from '../rpc-payer.js';
import { ScriptedNode } from '../scripted-node.js';
import { solanaKeyPair } from '../wallets.js';

/** Why this machine cannot run a local Solana chain; `undefined` if it can. */
const noSolana = await LocalSolana.fault();

const SYSTEM_PROGRAM = '11111111111111111111111111111111';
const LAMPORTS = 5_000_000n;

let chain: LocalChain;
let solana: LocalSolana | undefined;
let platform: Platform;

beforeAll(async () => {
  chain = await LocalChain.start();
  if (noSolana === undefined) solana = await LocalSolana.start();
  platform = await Platform.start({
    cryptoRpc: {
      networks: {
        'base-local': { family: 'evm', chainId: 8_453, nodes: [{ url: chain.url }] },
        ...(solana && {
          'solana-local': { family: 'solana', credits: 30, batch: 1, nodes: [{ url: solana.url }] },
        }),
      },
    },
  });
});
afterAll(async () => {
  await Promise.all([platform.stop(), chain.stop()]);
  solana?.stop();
});

/** What a client needs, and a check of what it was charged. */
interface Customer {
  readonly url: string;
  readonly headers: { readonly authorization: string };
  readonly proxy: CountingProxy;
}

/** Runs a client of a new account, whose charge must be the sum of the credits in the headers. */
async function charged(network: string, work: (customer: Customer) => Promise<void>): Promise<void> {
  const payer = await rpcPayer(platform);
  const proxy = await CountingProxy.start(platform.rootUrl);
  try {
    const headers = { authorization: `Bearer ${payer.apiKey}` };
    await work({ url: `${proxy.url}/api/v1/crypto/rpc/${network}`, headers, proxy });
    expect(proxy.credits).toBeGreaterThan(0);
    await eventually('the credits are charged', async () => (await payer.charged()) === proxy.credits);
  } finally {
    await proxy.stop();
  }
}

describe('the charge is the sum of the headers for', () => {
  it('viem: reads, a batch, a transaction and its receipt', async () => {
    await charged('base-local', async ({ url, headers }) => {
      const transport = http(url, { batch: { batchSize: 100 }, fetchOptions: { headers } });
      const account = privateKeyToAccount(generatePrivateKey());
      await chain.fund(account.address);
      const reader = createPublicClient({ chain: base, transport, pollingInterval: 50 });
      const [id, block] = await Promise.all([reader.getChainId(), reader.getBlock()]);
      expect([id, typeof block.number]).toEqual([8_453, 'bigint']);
      const wallet = createWalletClient({ chain: base, transport, account });
      const before = await reader.getBalance({ address: RECIPIENT });
      const hash = await wallet.sendTransaction({ to: RECIPIENT, value: parseEther('1') });
      const receipt = await reader.waitForTransactionReceipt({ hash });
      expect([receipt.status, receipt.transactionHash]).toEqual(['success', hash]);
      expect((await reader.getBalance({ address: RECIPIENT })) - before).toBe(parseEther('1'));
      await expect(reader.call({ to: RECIPIENT, gas: 1n })).rejects.toThrow(/gas/i);
    });
  });

  it('ethers: reads, a batch, a transaction and its receipt', async () => {
    await charged('base-local', async ({ url, headers }) => {
      const request = new FetchRequest(url);
      request.setHeader('authorization', headers.authorization);
      const provider = new JsonRpcProvider(request, 8_453, { staticNetwork: true, pollingInterval: 50 });
      try {
        const wallet = Wallet.createRandom(provider);
        await chain.fund(wallet.address);
        const [number, balance] = await Promise.all([
          provider.getBlockNumber(),
          provider.getBalance(wallet.address),
        ]);
        expect([typeof number, balance]).toEqual(['number', 10n ** 20n]);
        const sent = await wallet.sendTransaction({ to: RECIPIENT, value: 1n });
        const receipt = await sent.wait();
        expect([receipt?.status, receipt?.hash]).toEqual([1, sent.hash]);
        expect(await provider.getTransactionCount(wallet.address)).toBe(1);
      } finally {
        provider.destroy();
      }
    });
  });

  it.skipIf(noSolana !== undefined)('@solana/kit: reads, a transaction and its status', async () => {
    await charged('solana-local', async ({ url, headers }) => {
      const rpc = createSolanaRpc(url, { headers });
      const pair = solanaKeyPair();
      const signer = await createKeyPairSignerFromBytes(new Uint8Array(JSON.parse(pair.key) as number[]));
      solana?.fund(pair.address);
      const receiver = address(solanaKeyPair().address);
      const { value: lifetime } = await rpc.getLatestBlockhash().send();
      const data = Buffer.alloc(12);
      data.writeUInt32LE(2);
      data.writeBigUInt64LE(LAMPORTS, 4);
      const empty = createTransactionMessage({ version: 0 });
      const paid = setTransactionMessageFeePayerSigner(signer, empty);
      const timed = setTransactionMessageLifetimeUsingBlockhash(lifetime, paid);
      const message = appendTransactionMessageInstruction(
        {
          programAddress: address(SYSTEM_PROGRAM),
          accounts: [
            { address: signer.address, role: 3 },
            { address: receiver, role: 1 },
          ],
          data: new Uint8Array(data),
        },
        timed,
      );
      const signed = await signTransactionMessageWithSigners(message);
      const wire = getBase64EncodedWireTransaction(signed);
      const signature = await rpc.sendTransaction(wire, { encoding: 'base64' }).send();
      expect(signature).toBe(getSignatureFromTransaction(signed));
      const { value: statuses } = await rpc.getSignatureStatuses([signature]).send();
      expect(statuses[0]).toMatchObject({ confirmationStatus: 'finalized', err: null });
      expect((await rpc.getBalance(receiver).send()).value).toBe(LAMPORTS);
      expect(await rpc.getSlot().send()).toBeTypeOf('bigint');
    });
  });
});

describe('a client that exceeds its limit ends with an error', () => {
  let limited: Platform;
  let node: ScriptedNode;

  beforeAll(async () => {
    node = await ScriptedNode.start();
    node.answer = ([call]) => ({ body: JSON.stringify({ id: call?.id, result: '0x1' }) });
    limited = await Platform.start({
      cryptoRpc: {
        limits: { standard: { requestsPerMinute: 1, creditsPerMinute: 100_000 } },
        networks: {
          evm: { family: 'evm', nodes: [{ url: node.url }] },
          solana: { family: 'solana', nodes: [{ url: node.url }] },
        },
      },
    });
  });
  afterAll(async () => {
    await Promise.all([limited.stop(), node.stop()]);
  });

  const CLIENTS: readonly (readonly [
    string,
    string,
    (customer: Omit<Customer, 'proxy'>) => CallingClient,
  ])[] = [
    [
      'viem',
      'evm',
      ({ url, headers }) => {
        const client = createPublicClient({
          chain: base,
          transport: http(url, { fetchOptions: { headers } }),
        });
        return { call: () => client.getGasPrice(), end: () => undefined };
      },
    ],
    [
      'ethers',
      'evm',
      ({ url, headers }) => {
        const request = new FetchRequest(url);
        request.setHeader('authorization', headers.authorization);
        // By default it waits for minutes.
        request.setThrottleParams({ maxAttempts: 6 });
        const provider = new JsonRpcProvider(request, 8_453, { staticNetwork: true, cacheTimeout: -1 });
        return { call: () => provider.getBlockNumber(), end: () => provider.destroy() };
      },
    ],
    [
      '@solana/kit',
      'solana',
      ({ url, headers }) => {
        const rpc = createSolanaRpc(url, { headers });
        return { call: () => rpc.getGenesisHash().send(), end: () => undefined };
      },
    ],
  ];

  it.each(CLIENTS)(
    'within 10 s and 15 requests: %s',
    async (_, network, clientOf) => {
      const { apiKey } = await limited.account('1.00');
      const proxy = await CountingProxy.start(limited.rootUrl);
      const url = `${proxy.url}/api/v1/crypto/rpc/${network}`;
      const client = clientOf({ url, headers: { authorization: `Bearer ${apiKey}` } });
      try {
        let startMs = 0;
        // A minute may end between two calls, but not between all of them.
        const calls = async (): Promise<void> => {
          for (let time = 1; time <= 3; time += 1) {
            proxy.requests = 0;
            startMs = performance.now();
            await client.call();
          }
        };
        await expect(calls()).rejects.toThrow(/429|limit/);
        expect(performance.now() - startMs).toBeLessThan(10_000);
        expect(proxy.requests).toBeLessThanOrEqual(15);
      } finally {
        client.end();
        await proxy.stop();
      }
    },
    60_000,
  );
});

interface CallingClient {
  readonly call: () => Promise<unknown>;
  readonly end: () => void;
}
