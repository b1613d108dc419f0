import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { refuseUrls } from './refuse-urls.js';

const refusal = expect.objectContaining({ code: 'INVALID_REQUEST', param: 'ref_audio' }) as Error;
const check = (value: unknown) => (): void => refuseUrls([['ref_audio', value]]);

/** How programs are made to fetch or open something. */
const URL_TEXTS = [
  'http://169.254.169.254/latest/meta-data',
  'HTTPS://example.com/a.wav',
  'http:127.0.0.1',
  'http:/127.0.0.1',
  'http:\\\\127.0.0.1\\a',
  'file:///etc/passwd',
  'file:/etc/passwd',
  'file:a.wav',
  's3://bucket/a.wav',
  'gopher://127.0.0.1:6379/_',
  'x-new.scheme+1://host',
  'jar:file:/a.zip!/b',
  'concat:/etc/passwd|b',
  'subfile,,start,0,end,0,,:/etc/passwd',
  'view-source:http://host',
  'a.wav,http://host/x',
  '//host/x',
  '///host/x',
  '\\\\host\\share',
  '/\\host/x',
];

/** These are URLs only without spaces in them; otherwise they could be sentences. */
const URL_WORDS = ['s3:bucket/a.wav', 'a|http://host/x', 'data:,x,http://host/x'];

/** What does not change the URL that some reader of URLs sees. */
const invisible = fc.constantFrom('\t', '\n', '\r', '\0', '\u0001', '\u001f', '\u007f', '\u200b', '\ufeff');
const lead = fc.array(fc.constantFrom(' ', '\u00a0', '\t', '\n', '\0', '\u0001', '\u001f', '\ufeff'), {
  maxLength: 3,
});

/** Escapes any character, as JSON and literals of Python allow. */
const escaped = (character: string, way: number): string => {
  const code = character.charCodeAt(0).toString(16).padStart(2, '0');
  return [`\\u00${code}`, `\\x${code}`, `\\U000000${code}`][way] ?? character;
};

describe('a field for a model server', () => {
  it.each([...URL_TEXTS, ...URL_WORDS])(
    'is refused with a URL, at any depth, as a name and in JSON: %s',
    (url) => {
      const nesting = fc.array(fc.constantFrom('list', 'member', 'name', 'json'), { maxLength: 6 });
      fc.assert(
        fc.property(nesting, (kinds) => {
          const nested = kinds.reduce<unknown>((value, kind) => {
            if (kind === 'list') return ['a', value];
            if (kind === 'member') return { a: 1, b: value };
            if (kind === 'name' && typeof value === 'string') return { [value]: 1 };
            return JSON.stringify(value);
          }, url);
          expect(check(nested)).toThrow(refusal);
        }),
        { numRuns: 30 },
      );
    },
  );

  it('is refused with a URL that readers see behind characters that they drop', () => {
    const places = fc.array(fc.tuple(fc.nat(), invisible), { maxLength: 3 });
    fc.assert(
      fc.property(fc.constantFrom(...URL_TEXTS), places, lead, (url, inserted, before) => {
        let text = url;
        for (const [at, character] of inserted) {
          const from = at % text.length;
          text = text.slice(0, from) + character + text.slice(from);
        }
        expect(check(before.join('') + text)).toThrow(refusal);
      }),
    );
  });

  it('is refused with a URL whose characters are escaped, in texts within texts', () => {
    const way = fc.array(fc.nat(3), { minLength: 1, maxLength: 40 });
    const url = fc.constantFrom('http://host/x', 'file:/etc/passwd', 'x://host', '//host/x');
    const form = fc.constantFrom(
      (text: string) => `["${text}"]`,
      (text: string) => `{"a": NaN, "b": "${text}"}`,
      (text: string) => `{'a': '${text}',}`,
      (text: string) => `[${text}]`,
      (text: string) => `{a: ${text}`,
      (text: string) => JSON.stringify(JSON.stringify([`["${text}"]`])),
    );
    fc.assert(
      fc.property(url, way, form, (text, ways, write) => {
        const written = [...text].map((each, at) => escaped(each, ways[at % ways.length] ?? 3)).join('');
        expect(check(write(written))).toThrow(refusal);
      }),
    );
  });

  it.each([
    'data:audio/wav;base64,UklGRg==',
    'data:audio/mpeg;base64,//uQxAAA//8=',
    '["data:audio/mpeg;base64,//uQxAAA//8=", 1]',
    'UklGRg//abc+/==',
    'a text: see http://example.com',
    'Note: this',
    'Note: either/or',
    'HTTP: a protocol',
    'Voice Affect: calm.\n\nTone:\n- sincere/soft',
    '// a comment',
    '/think',
    '16:9',
    'qwen3:4b',
    'lang:en',
    'org/model',
    '12:30:00',
    '{"a": 1',
    '{"ratio": "16:9", "note": "a/b: c", "a\\/b": "\\u003cb\\u003e"}',
    '[1, 2]',
    '[verse] la la / la',
    'C\\D',
    '',
    null,
    7,
    { voice: { speed: '1:2' } },
  ])('may have other values: %j', (value) => {
    expect(check(value)).not.toThrow();
  });

  it('may be nested deeply', () => {
    const deep = JSON.parse('['.repeat(5_000) + ']'.repeat(5_000)) as unknown;
    expect(check(deep)).not.toThrow();
  });

  it('has a bounded length, apart from media in base64', () => {
    expect(check(`data:audio/wav;base64,${'A'.repeat(3_000_000)}`)).not.toThrow();
    expect(check('A+/='.repeat(1_000_000))).not.toThrow();
    expect(check('a b '.repeat(60_000))).not.toThrow();
    expect(check('a b '.repeat(70_000))).toThrow(refusal);
    const halves: [string, string][] = [
      ['a', 'a b '.repeat(40_000)],
      ['ref_audio', 'a b '.repeat(40_000)],
    ];
    expect(() => refuseUrls(halves)).toThrow(refusal);
  });
});
