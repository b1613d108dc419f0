import { randomUUID } from 'node:crypto';
import { LocalChain } from '@svc/infra';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { eventually } from '../response-bodies.js';
import { Platform } from '../platform.js';
import { countOn, passedOn, postRpc, sending, signedTransfer } from '../rpc-payer.js';
import { ScriptedNode } from '../scripted-node.js';

let chain: LocalChain;
let node: ScriptedNode;
let platform: Platform;

beforeAll(async () => {
  [chain, node] = await Promise.all([LocalChain.start(), ScriptedNode.start()]);
  const network = { family: 'evm', chainId: 8_453, nodes: [{ url: node.url }] };
  platform = await Platform.start({ cryptoRpc: { networks: { base: network } } });
});
afterAll(async () => {
  await Promise.all([platform.stop(), chain.stop(), node.stop()]);
});

it.each([
  ['the same Idempotency-Key', { key: randomUUID() }],
  ['no Idempotency-Key', {}],
])(
  'a gateway that is killed after a send: repeating it with %s leaves one transaction and one charge',
  async (_, more) => {
    const by = await platform.account('1.00');
    const { raw, hash, from } = await signedTransfer(chain);
    const send = (): Promise<Response> => postRpc(platform, { network: 'base', by, ...more }, sending(raw));
    node.answer = async ([call]) => {
      await passedOn(chain, call);
      await platform.kill();
      return undefined;
    };
    await expect(send()).rejects.toThrow('fetch failed');

    node.answer = ([call]) => passedOn(chain, call);
    node.sent.length = 0;
    await platform.restart();
    let response = await send();
    await eventually('the lease of the killed process has ended', async () => {
      if (response.status === 409) response = await send();
      return response.status !== 409;
    });
    expect(await response.json()).toEqual({ jsonrpc: '2.0', id: 1, result: hash });
    // With the key, the gateway knows of the first attempt and only looks the transaction up.
    const isKnown = 'key' in more;
    expect(node.methods.includes('eth_sendRawTransaction')).toBe(!isKnown);

    expect(await countOn(chain, from)).toBe(1);
    const charges = async (): Promise<unknown[]> => {
      const { body } = await platform.operator('GET', `/accounts/${by.id}/transfers?limit=100`);
      return (body['data'] as { kind: string }[]).filter(({ kind }) => kind === 'charge');
    };
    await eventually('it is charged', async () => (await charges()).length > 0);
    expect(await charges()).toMatchObject([{ amount: '0.000014' }]);
    expect(await platform.audit()).toMatchObject({ body: { ok: true } });
  },
);
