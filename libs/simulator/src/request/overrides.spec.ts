import { expect, test } from 'vitest';
import { overridesOfHeaders, overridesOfJson, overridesOfModel, overridesOfText } from './overrides.js';

test('a directive is parsed and removed from the text', () => {
  expect(
    overridesOfText('Hello [[sim fault=cut-mid-stream,crlf after=3 itl-ms=5 tokens=200 parallel]] there'),
  ).toEqual({
    text: 'Hello  there',
    overrides: { faults: ['cut-mid-stream', 'crlf'], after: 3, itlMs: 5, outputTokens: 200, parallel: true },
  });
});

test('headers, model names and JSON express the same settings', () => {
  const wanted = { ttftMs: 20, faults: ['500'] };
  expect(overridesOfHeaders({ 'x-sim-ttft-ms': '20', 'x-sim-fault': '500', accept: '*/*' })).toEqual(wanted);
  expect(overridesOfModel('llama;ttft-ms=20;fault=500')).toEqual({ id: 'llama', overrides: wanted });
  expect(overridesOfJson({ ttftMs: 20, faults: ['500'] })).toEqual(wanted);
});

test.each([
  ['an unknown fault', '[[sim fault=explode]]'],
  ['an unknown setting', '[[sim colour=red]]'],
  ['an invalid number', '[[sim after=soon]]'],
  ['a negative number', '[[sim ttft-ms=-1]]'],
])('%s is rejected, so that typing errors in tests are noticed', (_, text) => {
  expect(() => overridesOfText(text)).toThrow(/Simulator setting/);
});
