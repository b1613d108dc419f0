import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { nodeOutcomes } from './node-outcomes.js';

describe('the outcomes of a node', () => {
  it('are found by their ids in any order, with their text unchanged', () => {
    const result = '{"rentEpoch":18446744073709551615,"lamports":1.0,"a":"\\u0000"}';
    const text = `[{"jsonrpc":"2.0","id":1,"result":${result}}, {"result":null,"id":0}]`;
    const outcomes = nodeOutcomes(text, 2);
    expect(outcomes.get(0)).toEqual({ result: 'null' });
    expect(outcomes.get(1)).toEqual({ result });
  });

  it('leave out foreign ids, repeated ids and items that are neither a result nor an error', () => {
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
    const outcomes = nodeOutcomes(`[${items.join(',')}]`, 3);
    expect([...outcomes]).toEqual([[0, { result: '2' }]]);
  });

  it.each([
    ['{"jsonrpc":"2.0","id":null,"error":{"code":-32005,"message":"slow down"}}', 3],
    ['{"id":0,"error":{"code":-32005,"message":"slow down"}}', 3],
    ['{"error":{"code":-32005,"message":"slow down"}}', 1],
    ['[{"id":null,"error":{"code":-32005,"message":"slow down"}}]', 2],
  ])('are the error of each call if the node sent one for all of them: %s', (text, count) => {
    const error = { error: '{"code":-32005,"message":"slow down"}' };
    expect([...nodeOutcomes(text, count)]).toEqual(Array.from({ length: count }, (_, id) => [id, error]));
  });

  it.each([
    ['{"id":0,"result":1}', 3, [[0, { result: '1' }]]],
    ['{"id":null,"result":1}', 2, []],
    ['{"id":7,"error":{"code":1,"message":"no"}}', 1, []],
    ['[{"id":7,"error":{"code":1,"message":"no"}}]', 2, []],
  ])('are not those of a single response to one call: %s', (text, count, outcomes) => {
    expect([...nodeOutcomes(text, count)]).toEqual(outcomes);
  });

  it('of calls that send something have no error without their id, which may be about another request', () => {
    expect([...nodeOutcomes('{"id":null,"error":{"code":-32005,"message":"no"}}', 1, true)]).toEqual([]);
  });

  it('keep the code and data of an error, and no addresses', () => {
    const error = {
      code: 3,
      message: 'execution reverted at https://node.example/v2/SECRET?x=1',
      data: '0x08c379a0',
      stack: 'at wss://node.example',
    };
    const outcomes = nodeOutcomes(JSON.stringify({ id: 0, error }), 1);
    expect(outcomes.get(0)).toEqual({
      error: '{"code":3,"message":"execution reverted at [address]","data":"0x08c379a0"}',
    });
  });

  it('are errors as JSON, whatever the error is', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (error) => {
        fc.pre(error !== null);
        const outcome = nodeOutcomes(JSON.stringify({ id: 0, error }), 1).get(0);
        const text = outcome && 'error' in outcome ? outcome.error : '';
        expect(JSON.parse(text)).toMatchObject({
          code: expect.any(Number) as number,
          message: expect.any(String) as string,
        });
      }),
    );
  });

  it.each(['', '<html>', '{"id":0,', '['.repeat(100_000)])('are refused if they are no JSON: %#', (text) => {
    expect(() => nodeOutcomes(text, 1)).toThrow(/JSON|Unexpected/);
  });
});
