import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkedParams } from './checked-params.js';

const BOUNDS = { maxLogBlocks: 10, finalizedBlock: undefined };

const errorOf = (method: string, params: unknown, bounds = BOUNDS as object): string | undefined => {
  const { refusal } = checkedParams(method, JSON.stringify(params), { ...BOUNDS, ...bounds });
  if (refusal === undefined) return undefined;
  const { code, message } = JSON.parse(refusal) as { code: number; message: string };
  expect(code).toBe(-32_602);
  return message;
};

const RANGED = ['eth_getLogs', 'trace_filter', 'arbtrace_filter'];

describe('the blocks of a filter', () => {
  it.each([
    [{ fromBlock: '0x1', toBlock: '0xa' }],
    [{ fromBlock: 5, toBlock: 14 }],
    [{ fromBlock: '0x9', toBlock: '0x1' }],
    [{ fromBlock: '0x1', toBlock: 'latest' }],
    [{ fromBlock: 'latest', toBlock: 'latest' }],
    [{ fromBlock: 'earliest', toBlock: '0x9' }],
    [{ blockHash: '0x1' }],
    [{}],
  ])('may be few, or known to the node alone: %j', (filter) => {
    for (const method of RANGED) expect(errorOf(method, [filter])).toBeUndefined();
  });

  it.each([
    [{ fromBlock: '0x1', toBlock: '0xb' }],
    [{ fromBlock: 1, toBlock: '0xffff' }],
    [{ fromBlock: '0x01', toBlock: '0xFFFFFFFFFFFFFFFF' }],
    [{ fromBlock: '0x00000000000000000001', toBlock: 11 }],
    [{ fromBlock: ' 0X1', toBlock: '100' }],
  ])('are refused beyond the limit, with a range that would do: %j', (filter) => {
    for (const method of RANGED)
      expect(errorOf(method, [filter])).toBe(
        `${method} covers at most 10 blocks. This range would do: [0x1, 0xa]. Not charged.`,
      );
  });

  it('begin with the first one for `earliest` in any case, and where a trace filter names none', () => {
    for (const method of RANGED)
      for (const fromBlock of ['earliest', 'EARLIEST', ' Earliest '])
        expect(errorOf(method, [{ fromBlock, toBlock: '0xffff' }])).toContain('[0x0, 0x9]');
    expect(errorOf('trace_filter', [{ toBlock: '0xffff' }])).toContain('[0x0, 0x9]');
    expect(errorOf('eth_getLogs', [{ toBlock: '0xffff' }])).toBeUndefined();
  });

  it.each(['latest', 'safe', 'finalized', 'pending', 'Latest', undefined, null])(
    'reach to the final block at least if they end with %s',
    (toBlock) => {
      const filter = [{ fromBlock: '0x1', toBlock }];
      expect(errorOf('eth_getLogs', filter, { finalizedBlock: 10 })).toBeUndefined();
      expect(errorOf('eth_getLogs', filter, { finalizedBlock: 11 })).toContain('[0x1, 0xa]');
    },
  );

  it('are refused under names that only some nodes read as these, and in other forms', () => {
    for (const name of ['FromBlock', 'FROMBLOCK', 'fromBloc\u212a', 'TOBLOCK'])
      expect(errorOf('eth_getLogs', [{ [name]: '0x0', toBlock: '0x1' }])).toContain('spelled exactly');
    expect(errorOf('eth_getLogs', { fromBlock: '0x0', toBlock: '0xff' })).toContain('list');
  });

  it('are passed on as they were read, and those of other methods untouched', () => {
    const params = '[{"fromBlock":"0x9","fromBlock":"0x1","toBlock":"0x2"}]';
    expect(checkedParams('eth_getLogs', params, BOUNDS)).toEqual({
      params: '[{"fromBlock":"0x1","toBlock":"0x2"}]',
    });
    expect(checkedParams('eth_call', params, BOUNDS)).toEqual({ params });
  });
});

describe('the options of tracing', () => {
  const METHODS = ['debug_traceCall', 'debug_traceTransaction', 'debug_traceBlockByNumber'];

  it.each([
    {},
    { tracer: 'callTracer', tracerConfig: { onlyTopCall: true }, timeout: '5s', reexec: 128 },
    { tracer: '4byteTracer', timeout: '500ms' },
    { tracer: 'muxTracer', tracerConfig: { callTracer: {}, prestateTracer: { diffMode: true } } },
    { tracer: null, timeout: null, disableStorage: true, stateOverrides: { '0x1': { code: '0x' } } },
    { timeout: '10.0s' },
  ])('may name a tracer and a short time: %j', (options) => {
    for (const method of METHODS) expect(errorOf(method, ['0x1', options])).toBeUndefined();
  });

  it.each([
    [{ tracer: '{step:function(l){for(;;);},result:function(){},fault:function(){}}' }, 'tracer'],
    [{ tracer: 'new Proxy({}, {})' }, 'tracer'],
    [{ tracer: 'a.b' }, 'tracer'],
    [{ tracer: ['callTracer'] }, 'tracer'],
    [{ tracer: 'a'.repeat(65) }, 'tracer'],
    [{ tracer: 'muxTracer', tracerConfig: { '{step(){}}': {} } }, 'tracerConfig'],
    [{ tracer: 'muxTracer', tracerConfig: { muxTracer: { '(()=>1)()': {} } } }, 'tracerConfig'],
    [{ timeout: '100000h' }, 'timeout'],
    [{ timeout: '11s' }, 'timeout'],
    [{ timeout: '1m' }, 'timeout'],
    [{ timeout: '5s5h' }, 'timeout'],
    [{ timeout: '-5s' }, 'timeout'],
    [{ timeout: 1e9 }, 'timeout'],
    [{ reexec: 1_000_000 }, 'reexec'],
    [{ reexec: '0xffffff' }, 'reexec'],
  ])('are refused if they are a program or take long: %j', (options, name) => {
    for (const method of METHODS) {
      expect(errorOf(method, ['0x1', options])).toContain(name);
      expect(errorOf(method, [{ from: '0x1' }, 'latest', options])).toContain(name);
    }
  });

  it('are refused in any case but their own', () => {
    const cased = fc
      .tuple(
        fc.constantFrom('tracer', 'tracerConfig', 'timeout', 'reexec'),
        fc.array(fc.boolean(), { minLength: 12 }),
      )
      .map(([name, upper]) => ({
        name,
        written: [...name].map((each, at) => (upper[at] ? each.toUpperCase() : each)).join(''),
      }));
    fc.assert(
      fc.property(cased, ({ name, written }) => {
        fc.pre(name !== written);
        expect(errorOf('debug_traceCall', [{}, 'latest', { [written]: '1' }])).toContain(`expected ${name}.`);
      }),
    );
  });
});
