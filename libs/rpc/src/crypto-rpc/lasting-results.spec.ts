import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Lasting, lasts, lastingOf } from './lasting-results.js';
import { METHODS } from './methods.js';
import { sends } from './transactions.js';

const ADDRESS = `0x${'aA'.repeat(20)}`;
const HASH = `0x${'1'.repeat(64)}`;
const TAGS = ['latest', 'pending', 'safe', 'finalized', 'earliest', 'LATEST'];

const evm = (method: string, ...params: readonly unknown[]): Lasting | undefined =>
  lastingOf('evm', { method, params: JSON.stringify(params) });
const solana = (method: string, ...params: readonly unknown[]): Lasting | undefined =>
  lastingOf('solana', { method, params: JSON.stringify(params) });

describe('a result lasts', () => {
  it('only if its call has no tag in place of a block, and sends nothing', () => {
    const block = fc.constantFrom<unknown>(
      ...TAGS,
      'confirmed',
      '0x0',
      '0xA',
      '0x0a',
      HASH,
      ADDRESS,
      1,
      null,
    );
    const names = ['fromBlock', 'toBlock', 'TOBLOCK', 'blockHash', 'blockNumber', 'commitment', 'address'];
    const param = fc.oneof(block, fc.dictionary(fc.constantFrom(...names), block), fc.array(block));
    const call = fc.constantFrom('evm' as const, 'solana' as const, 'starknet' as const).chain((family) =>
      fc.record({
        family: fc.constant(family),
        method: fc.constantFrom(...Object.values(METHODS[family]).flat()),
        params: fc.array(param, { maxLength: 4 }),
      }),
    );
    let lasting = 0;
    fc.assert(
      fc.property(call, ({ family, method, params }) => {
        const text = JSON.stringify(params);
        if (lastingOf(family, { method, params: text }) === undefined) return;
        lasting += 1;
        const moving =
          family === 'evm'
            ? TAGS.filter((tag) => text.includes(`"${tag}"`))
            : text.match(/"commitment":(?!"finalized")/g);
        expect([sends(family, method), moving ?? []]).toEqual([false, []]);
      }),
      { numRuns: 20_000 },
    );
    expect(lasting).toBeGreaterThan(100);
  });

  it.each<[Lasting | undefined, string, ...unknown[]]>([
    ['always', 'eth_chainId'],
    [undefined, 'eth_chainId', 'latest'],
    [undefined, 'eth_blockNumber'],
    [16, 'eth_getBlockByNumber', '0x10', false],
    [10, 'eth_getBlockByNumber', '0xA', false],
    [0, 'eth_getBlockByNumber', '0x0', false],
    [undefined, 'eth_getBlockByNumber', '0x0a', false],
    [undefined, 'eth_getBlockByNumber', 10, false],
    [undefined, 'eth_getBlockByNumber', '0x10000000000000', false],
    [undefined, 'eth_getBlockReceipts', HASH],
    [1, 'eth_call', { to: ADDRESS }, '0x1'],
    [undefined, 'eth_call', { to: ADDRESS }],
    [undefined, 'eth_call', { to: ADDRESS }, { blockHash: HASH }],
    [1, 'eth_getStorageAt', ADDRESS, '0x0', '0x1'],
    [undefined, 'eth_getStorageAt', ADDRESS, '0x1'],
    [2, 'eth_getLogs', { fromBlock: '0x1', toBlock: '0x2' }],
    [undefined, 'eth_getLogs', { fromBlock: '0x1' }],
    [undefined, 'eth_getLogs', { toBlock: '0x1' }],
    [undefined, 'eth_getLogs', { fromBlock: '0x1', toBlock: '0x2', TOBLOCK: '0x9' }],
    [undefined, 'eth_getLogs', { fromBlock: '0x1', toBlock: '0x2', blockHash: HASH }],
    ['by-result', 'eth_getTransactionReceipt', HASH],
    [undefined, 'eth_estimateGas', { to: ADDRESS }, '0x1'],
    [undefined, 'getGenesisHash'],
  ])('on EVM: %s for %s %j', (lasting, method, ...params) => {
    expect(evm(method, ...params)).toBe(lasting);
  });

  it.each<[Lasting | undefined, string, ...unknown[]]>([
    ['always', 'getGenesisHash'],
    [5, 'getBlock', 5],
    [5, 'getBlock', 5, { encoding: 'json' }],
    [5, 'getBlock', 5, { commitment: 'finalized' }],
    [undefined, 'getBlock', 5, { commitment: 'confirmed' }],
    [undefined, 'getBlock', 5, 'json'],
    [undefined, 'getBlock', 5, null],
    [undefined, 'getBlock', '5'],
    ['by-result', 'getTransaction', 'abc'],
    [undefined, 'getTransaction', 'abc', { commitment: 'processed' }],
    [undefined, 'getSlot', { commitment: 'finalized' }],
  ])('on Solana: %s for %s %j', (lasting, method, ...params) => {
    expect(solana(method, ...params)).toBe(lasting);
  });

  it.each<[boolean, Lasting, string]>([
    [true, 100, '"0x0"'],
    [false, 101, '"0x0"'],
    [true, 'by-result', '{"number":"0x64"}'],
    [false, 'by-result', '{"number":"0x65"}'],
    [true, 'by-result', '{"hash":"0x1","blockNumber":"0x64"}'],
    [false, 'by-result', '{"blockNumber":null,"number":"0x1"}'],
    [true, 'by-result', '{"slot":100,"blockTime":1}'],
    [false, 'by-result', '{"slot":100,"blockTime":null}'],
    [false, 'by-result', '"0x1"'],
    [false, 'by-result', '[{"blockNumber":"0x1"}]'],
    [false, 'by-result', '{"blockNumber":[1]}'],
    ...['null', '[]', '[ ]', '{}', '""', '"0x"'].map((result): [boolean, Lasting, string] => [
      false,
      'always',
      result,
    ]),
  ])('or not (%s), %s, when block 100 is final: %s', (does, lasting, result) => {
    expect(lasts(lasting, result, 100)).toBe(does);
  });

  it('unless it has more than a MiB', () => {
    expect(lasts('always', `"${'a'.repeat(1_048_576)}"`, 100)).toBe(false);
  });
});
