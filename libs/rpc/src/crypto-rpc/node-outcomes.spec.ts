import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodeOutcomes } from './node-outcomes.js';

describe('the outcomes of a node', () => {
  it('are found by their ids in any order, with their text unchanged', async () => {
    const result = '{"rentEpoch":18446744073709551615,"lamports":1.0,"a":"\\u0000"}';
    const text = `[{"jsonrpc":"2.0","id":1,"result":${result}}, {"result":null,"id":0}]`;
    const outcomes = await nodeOutcomes(text, 2);
    expect(outcomes.get(0)).toEqual({ result: 'null' });
    expect(outcomes.get(1)).toEqual({ result });
  });

  it('leave out foreign ids, repeated ids and items that are neither a result nor an error', async () => {
    const items = [
      '{"id":"0","result":1}',
      '{"id":0,"result":2}',
      '{"id":0,"result":3}',
      '{"id":7,"result":4}',
      '{"id":1}',
      '{"id":1.5,"result":5}',
      'null',
      '[]',
    ];
    const outcomes = await nodeOutcomes(`[${items.join(',')}]`, 3);
    expect([...outcomes]).toEqual([[0, { result: '2' }]]);
  });

  it.each([
    ['{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"slow down"}}', 3],
    ['{"id":0,"error":{"code":-32005,"message":"slow down"}}', 3],
    ['{"error":{"code":-32005,"message":"slow down"}}', 1],
    ['[{"id":null,"error":{"code":-32005,"message":"slow down"}}]', 2],
  ])('are the error of each call if the node sent one for all of them: %s', async (text, count) => {
    const error = { error: '{"code":-32005,"message":"slow down"}' };
    expect([...(await nodeOutcomes(text, count))]).toEqual(
      Array.from({ length: count }, (_, id) => [id, error]),
    );
  });

  it.each([
    ['{"id":0,"result":1}', 3, [[0, { result: '1' }]]],
    ['{"id":null,"result":1}', 2, []],
    ['{"id":7,"error":{"code":1,"message":"no"}}', 1, []],
    ['[{"id":7,"error":{"code":1,"message":"no"}}]', 2, []],
  ])('are not those of a single response to one call: %s', async (text, count, outcomes) => {
    expect([...(await nodeOutcomes(text, count))]).toEqual(outcomes);
  });

  it('of calls that send something have no error without their id, which may be about another request', async () => {
    const text = '{"id":null,"error":{"code":-32005,"message":"no"}}';
    expect([...(await nodeOutcomes(text, 1, true))]).toEqual([]);
  });

  it('keep the code and data of an error, and no addresses', async () => {
    const error = {
      code: 3,
      message: 'execution reverted at https://node.example/v2/SECRET?x=1',
      data: '0x08c379a0',
      stack: 'at wss://node.example',
    };
    const outcomes = await nodeOutcomes(JSON.stringify({ id: 0, error }), 1);
    expect(outcomes.get(0)).toEqual({
      error: '{"code":3,"message":"execution reverted at …","data":"0x08c379a0"}',
    });
  });

  it.each([
    'https://eth-mainnet.g.alchemy.com/v2/SeCrEtKeY1',
    'wss:\\/\\/node.example\\/SeCrEtKeY1',
    'redis://:SeCrEtKeY1@10.1.2.3:6379',
    'node-7.internal:8545/SeCrEtKeY1',
    'geth:8545/SeCrEtKeY1?x=1',
    'rpc.ankr.com/SeCrEtKeY1',
    '10.1.2.3:8545',
    'api key: SeCrEtKeY1',
    'Authorization: Bearer SeCrEtKeY1',
    'sk-SeCrEtKeY1',
  ])('never contain an address or a key, in their message or anywhere in their data: %s', async (secret) => {
    const text = (value: string): string => `"dial ${value} failed"`;
    const data = `{"a":[${text(secret)},{${text(secret)}:"0x1"}],"n":18446744073709551615}`;
    const body = `{"id":0,"error":{"code":-32000,"message":${text(secret)},"data":${data}}}`;
    const outcome = (await nodeOutcomes(body, 1)).get(0);
    const error = outcome && 'error' in outcome ? outcome.error : '';
    expect(error).not.toMatch(/SeCrEt|10\.1|internal|alchemy|ankr|geth|node/);
    expect(error).toContain('"0x1"');
    expect(error).toContain('18446744073709551615');
    expect(JSON.parse(error)).toMatchObject({ code: -32_000, message: expect.stringContaining('dial') });
  });

  it.each([
    'execution reverted: ERC20: transfer amount exceeds balance',
    'insufficient funds for gas * price + value: address 0x52908400098527886E0F7030069857D2E4169EE7 have 0 want 1',
    'nonce too low: next nonce 5, tx nonce 4',
    'the method eth_getFoo does not exist/is not available',
    'header not found',
  ])('keep the words and the numbers of chains: %s', async (message) => {
    const data = {
      logs: [
        'Program TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA invoke [1]',
        'Program log: AnchorError thrown in programs/foo/src/lib.rs:45. Error Code: X.',
      ],
      accounts: null,
      unitsConsumed: 4_500,
    };
    const body = JSON.stringify({ id: 0, error: { code: 3, message, data } });
    const outcome = (await nodeOutcomes(body, 1)).get(0);
    expect(outcome).toEqual({ error: JSON.stringify({ code: 3, message, data }) });
  });

  it('are errors as JSON, whatever the error is', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (error) => {
        fc.pre(error !== null);
        const outcome = (await nodeOutcomes(JSON.stringify({ id: 0, error }), 1)).get(0);
        const text = outcome && 'error' in outcome ? outcome.error : '';
        expect(JSON.parse(text)).toMatchObject({
          code: expect.any(Number) as number,
          message: expect.any(String) as string,
        });
      }),
    );
  });

  it.each(['', '<html>', '{"id":0,', '['.repeat(100_000)])(
    'are refused if they are no JSON: %#',
    async (text) => {
      await expect(nodeOutcomes(text, 1)).rejects.toThrow(/JSON/);
    },
  );
});
