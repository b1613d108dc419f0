import fc from 'fast-check';
import { JsonReader } from '@svc/runtime';
import { describe, expect, it } from 'vitest';
import { StateCollector, unsealed } from './reasoning-state.js';

const NOTHING = { details: [], thoughtSignature: undefined, callExtras: new Map() };

function collected(...deltas: object[]): StateCollector {
  const state = new StateCollector();
  for (const delta of deltas) state.add({ delta: { ...delta } });
  return state;
}

describe('what a model needs to resume its reasoning', () => {
  it('comes back as it was, once', () => {
    const state = collected(
      { reasoning_details: [{ type: 'reasoning.text', text: 'a', index: 0 }] },
      { reasoning_details: [{ type: 'reasoning.text', text: 'b', signature: 's', index: 0 }] },
      { thought_signature: 't' },
      { tool_calls: [{ index: 0, id: 'c', extra_content: { google: { thought_signature: 'x' } } }] },
    );
    expect(unsealed(state.take() ?? '', new JsonReader())).toEqual({
      details: [{ type: 'reasoning.text', text: 'ab', signature: 's', index: 0 }],
      thoughtSignature: 't',
      callExtras: new Map([['c', { google: { thought_signature: 'x' } }]]),
    });
    expect(state.take()).toBeUndefined();
  });

  it('is nothing if nobody signed the reasoning', () => {
    expect(collected({ reasoning_details: [{ type: 'reasoning.text', text: 'a' }] }).take()).toBeUndefined();
    expect(collected({ content: 'a' }).take()).toBeUndefined();
  });

  it('is nothing in a signature of another service, whatever it is', () => {
    fc.assert(
      fc.property(fc.string(), fc.jsonValue(), (text, value) => {
        expect(unsealed(text, new JsonReader())).toEqual(NOTHING);
        const json = Buffer.from(JSON.stringify(value)).toString('base64url');
        expect(() => unsealed(`svc1.${json}`, new JsonReader())).not.toThrow();
        expect(unsealed(`svc1.${text}`, new JsonReader())).toEqual(NOTHING);
      }),
    );
  });
});
