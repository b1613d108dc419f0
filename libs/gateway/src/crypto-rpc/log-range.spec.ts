import { describe, expect, it } from 'vitest';
import { checkedRange } from './log-range.js';

const refusalOf = (filter: object, method = 'eth_getLogs'): string | undefined =>
  checkedRange(method, JSON.stringify([filter]), 10).refusal;

describe('the blocks of a filter', () => {
  it.each([
    [{ fromBlock: '0x1', toBlock: '0xa' }],
    [{ fromBlock: 5, toBlock: 14 }],
    [{ fromBlock: '0x9', toBlock: '0x1' }],
    [{ fromBlock: '0x1', toBlock: 'latest' }],
    [{ blockHash: '0x1' }],
    [{}],
  ])('may be few, or known to the node alone: %j', (filter) => {
    expect(refusalOf(filter)).toBeUndefined();
  });

  it.each([
    [{ fromBlock: '0x1', toBlock: '0xb' }],
    [{ fromBlock: 1, toBlock: '0xffff' }],
    [{ fromBlock: '0x01', toBlock: '0xFFFFFFFFFFFFFFFF' }],
  ])('are refused beyond the limit, with a range that would do: %j', (filter) => {
    for (const method of ['eth_getLogs', 'trace_filter'])
      expect(JSON.parse(refusalOf(filter, method) ?? '{}')).toEqual({
        code: -32_602,
        message: `${method} covers at most 10 blocks. This range would do: [0x1, 0xa]. Not charged.`,
      });
  });

  it('are passed on as they were read, and those of other methods untouched', () => {
    const params = '[{"fromBlock":"0x9","fromBlock":"0x1","toBlock":"0x2"}]';
    expect(checkedRange('eth_getLogs', params, 10).params).toBe('[{"fromBlock":"0x1","toBlock":"0x2"}]');
    expect(checkedRange('eth_call', params, 10).params).toBe(params);
  });
});
