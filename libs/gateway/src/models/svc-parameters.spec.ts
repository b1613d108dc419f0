import type { Model } from '@svc/runtime';
import { describe, expect, it } from 'vitest';
import { effectiveParameters, refuseUnavailable, splitModelName } from './svc-parameters.js';

describe('splitModelName', () => {
  it('takes parameters off a name, URL-decoded, and drops unknown ones', () => {
    expect(splitModelName('m:enable_web_search=on&character_slug=a%20b&nonsense=1')).toEqual({
      name: 'm',
      parameters: { enable_web_search: 'on', character_slug: 'a b' },
    });
  });

  it('leaves a name with colons alone', () => {
    expect(splitModelName('llama3.2:3b')).toEqual({ name: 'llama3.2:3b', parameters: {} });
    expect(splitModelName('llama3.2:3b:disable_thinking=true').name).toBe('llama3.2:3b');
  });
});

describe('effectiveParameters', () => {
  it('lets the suffix win over the body, and the body over the defaults', () => {
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

  it('reads the switch of the house prompts under both of its names', () => {
    expect(effectiveParameters({ include_svc_system_prompt: false }, {}).include_venice_system_prompt).toBe(
      false,
    );
    const both = effectiveParameters(
      { include_venice_system_prompt: true },
      { include_svc_system_prompt: false },
    );
    expect(both.include_venice_system_prompt).toBe(false);
  });

  it('refuses a suffix with a value of the wrong type, naming the parameter', () => {
    const path = ['model'];
    const message = expect.stringContaining('suffix: disable_thinking: ') as string;
    expect(() => effectiveParameters({}, { disable_thinking: 'maybe' })).toThrow(
      expect.objectContaining({ param: 'model', issues: [{ code: 'invalid_type', path, message }] }),
    );
  });
});

/** A catalogue without a search. */
const NOWHERE = { search: undefined, model: { id: 'm', capabilities: {} as Model['capabilities'] } };

describe('refuseUnavailable', () => {
  it('refuses what is asked for and not there, and nothing else', () => {
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
