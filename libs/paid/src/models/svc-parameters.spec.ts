import type { Model } from '@svc/catalog';
import { describe, expect, it } from 'vitest';
import { effectiveParameters, refuseUnavailable, splitModelName } from './svc-parameters.js';

describe('splitModelName', () => {
  it('splits parameters off a name, URL-decoded, and drops unknown ones', () => {
    expect(splitModelName('m:enable_web_search=on&character_slug=a%20b&nonsense=1')).toEqual({
      name: 'm',
      parameters: { enable_web_search: 'on', character_slug: 'a b' },
    });
  });

  it('does not split a name that only contains colons', () => {
    expect(splitModelName('llama3.2:3b')).toEqual({ name: 'llama3.2:3b', parameters: {} });
    expect(splitModelName('llama3.2:3b:disable_thinking=true').name).toBe('llama3.2:3b');
  });
});

describe('effectiveParameters', () => {
  it('prefers the suffix to the body, and the body to the defaults', () => {
    const parameters = effectiveParameters(
      { strip_thinking_response: true, disable_thinking: true },
      { disable_thinking: false },
    );
    expect(parameters).toMatchObject({
      strip_thinking_response: true,
      disable_thinking: false,
      enable_web_search: 'off',
    });
  });

  it('accepts both names of the switch for the house prompts', () => {
    expect(effectiveParameters({ include_svc_system_prompt: false }, {}).include_venice_system_prompt).toBe(
      false,
    );
    const both = effectiveParameters(
      { include_venice_system_prompt: true },
      { include_svc_system_prompt: false },
    );
    expect(both.include_venice_system_prompt).toBe(false);
  });

  it('rejects a suffix with a value of the wrong type, naming the parameter', () => {
    const path = ['model'];
    const message = expect.stringContaining('suffix: disable_thinking: ') as string;
    expect(() => effectiveParameters({}, { disable_thinking: 'maybe' })).toThrow(
      expect.objectContaining({ param: 'model', issues: [{ code: 'invalid_type', path, message }] }),
    );
  });
});

/** A deployment without web search. */
const NOWHERE = { search: undefined, model: { id: 'm', capabilities: {} as Model['capabilities'] } };

describe('refuseUnavailable', () => {
  it('rejects only unavailable features', () => {
    expect(() => refuseUnavailable(effectiveParameters({ enable_web_search: 'on' }, {}), NOWHERE)).toThrow(
      /enable_web_search/,
    );
    expect(() =>
      refuseUnavailable(
        effectiveParameters({ enable_web_search: 'off', enable_web_citations: true }, {}),
        NOWHERE,
      ),
    ).not.toThrow();
    expect(() =>
      refuseUnavailable(effectiveParameters({ character_slug: 'ann' }, {}), NOWHERE),
    ).not.toThrow();
    const native = effectiveParameters({ enable_x_search: true, enable_web_search: 'on' }, {});
    expect(() => refuseUnavailable(native, NOWHERE)).toThrow(/m does not support enable_x_search/);
    const able = { id: 'm', capabilities: { supportsXSearch: true } as Model['capabilities'] };
    expect(() => refuseUnavailable(native, { ...NOWHERE, model: able })).not.toThrow();
    const searching = effectiveParameters({ enable_web_search: 'on' }, {});
    expect(() => refuseUnavailable(searching, { ...NOWHERE, search: { providers: [] } })).not.toThrow();
  });
});
