import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { refuseUrls } from './refuse-urls.js';

const refusal = expect.objectContaining({ code: 'INVALID_REQUEST', param: 'ref_audio' }) as Error;
const URL_TEXTS = [
  'http://169.254.169.254/latest/meta-data',
  ' HTTPS://example.com/a.wav',
  'file:///etc/passwd',
  'file:/etc/passwd',
  's3://bucket/a.wav',
  'http:127.0.0.1',
];

describe('a field for a model server', () => {
  it.each(URL_TEXTS)('is refused with a URL, at any depth and in JSON: %s', (url) => {
    const nesting = fc.array(fc.constantFrom('list', 'member', 'json'), { maxLength: 6 });
    fc.assert(
      fc.property(nesting, (kinds) => {
        const nested = kinds.reduce<unknown>((value, kind) => {
          if (kind === 'list') return ['a', value];
          return kind === 'member' ? { a: 1, b: value } : JSON.stringify(value);
        }, url);
        expect(() => refuseUrls(['ref_audio', nested])).toThrow(refusal);
      }),
    );
  });

  it.each([
    'data:audio/wav;base64,UklGRg==',
    'a text: see http://example.com',
    '16:9',
    '{"a": 1',
    '[1, 2]',
    '',
    null,
    7,
    { voice: { speed: '1:2' } },
  ])('may have other values: %j', (value) => {
    expect(() => refuseUrls(['ref_audio', value])).not.toThrow();
  });

  it('may be nested deeply', () => {
    const deep = JSON.parse('['.repeat(5_000) + ']'.repeat(5_000)) as unknown;
    expect(() => refuseUrls(['ref_audio', deep])).not.toThrow();
  });
});
