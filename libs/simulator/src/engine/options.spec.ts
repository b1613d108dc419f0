import { expect, test } from 'vitest';
import { DEFAULT_OPTIONS, helpText, parseOptions } from './options.js';

test('no flags give the defaults', () => {
  expect(parseOptions([])).toEqual({ kind: 'options', options: DEFAULT_OPTIONS });
});

test('flags are parsed', () => {
  const parsed = parseOptions([
    '--port=0',
    '--ttft-ms',
    '20',
    '--itl-ms',
    '2.5',
    '--models',
    'a, b',
    '--no-prefix-cache',
    '--tee-lookalike',
    '--serial-prefill',
    '--batch-knee=48',
    '--fail-faults',
    '500,cut',
  ]);
  expect(parsed).toEqual({
    kind: 'options',
    options: {
      ...DEFAULT_OPTIONS,
      port: 0,
      ttftMs: 20,
      itlMs: 2.5,
      models: ['a', 'b'],
      prefixCache: false,
      teeLookalike: true,
      serialPrefill: true,
      batchKnee: 48,
      failFaults: ['500', 'cut'],
    },
  });
});

test('all faults of a command line are reported at once', () => {
  const parsed = parseOptions([
    '--port',
    '70000',
    '--ttft-ms',
    'soon',
    '--colour',
    'red',
    '--fail-faults',
    'boom',
    '--seed',
  ]);
  expect(parsed.kind).toBe('faults');
  const text = parsed.kind === 'faults' ? parsed.faults.join('\n') : '';
  for (const flag of ['--port', '--ttft-ms', '--colour', '--fail-faults', '--seed'])
    expect(text).toContain(flag);
});

test('help names every flag', () => {
  expect(parseOptions(['--help', '--port', 'x'])).toEqual({ kind: 'help' });
  expect(helpText()).toContain('--prefill-us-per-token');
});
