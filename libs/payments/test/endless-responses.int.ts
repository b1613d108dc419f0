import { once } from 'node:events';
import { type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { EvmChain } from '../src/chains/evm-chain.js';
import { ChainAway } from '../src/chains/chain.js';
import { BASE } from '../src/rails/base.js';
import { solanaFacilitator } from '../src/rails/solana.js';
import { SolanaRpc } from '../src/solana/solana-rpc.js';

const MEBIBYTE = Buffer.alloc(1_048_576, ' ');

/** Much longer than each deadline, however busy the machine is. */
const TIMEOUT = { timeout: 60_000 };

let server: Server;
let url: string;
let floodedBytes = 0;

beforeAll(async () => {
  server = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'application/json');
    void (request.url?.startsWith('/drips') ? drip(response) : flood(response));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  server.close();
  await once(server, 'close');
});

async function drip(response: ServerResponse): Promise<void> {
  while (!response.destroyed) {
    response.write(' ');
    await sleep(200);
  }
}

async function flood(response: ServerResponse): Promise<void> {
  const endless = function* (): Generator<Buffer> {
    for (;;) {
      floodedBytes += MEBIBYTE.byteLength;
      yield MEBIBYTE;
    }
  };
  // Ends when the reader closes the connection.
  await pipeline(endless, response).catch(() => undefined);
}

describe.each(['drips', 'floods'])('a peer whose response never ends, and %s', (how) => {
  const at = (): string => `${url}/${how}`;

  it('counts as down if it is a node of Base', TIMEOUT, async () => {
    const node = new EvmChain({ terms: BASE, rpcUrl: at(), confirmations: 1, maxFeeGwei: 1 });
    await expect(node.head()).rejects.toThrow(ChainAway);
  });

  it('counts as down if it is a node of Solana', TIMEOUT, async () => {
    await expect(new SolanaRpc(at()).call('getSlot', [], z.unknown())).rejects.toThrow(ChainAway);
  });

  it('counts as down if it is a facilitator', TIMEOUT, async () => {
    await expect(solanaFacilitator(at()).feePayer()).rejects.toThrow(ChainAway);
  });
});

it('a flooding peer is read only up to the size limit', () => {
  // Two attempts on Base and one on each of the others, plus socket buffers.
  expect(floodedBytes).toBeLessThan(60 * MEBIBYTE.byteLength);
});
