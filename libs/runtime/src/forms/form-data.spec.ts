import { FILE_LIMIT_BYTES, FormFile } from '@svc/api/route';
import { Problem } from '@svc/contracts/problems';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { type Form, readForm } from './form-data.js';
import { formShapeOf } from './form-shape.js';

const TYPE = 'multipart/form-data; boundary=b';
const SHAPE = formShapeOf(
  z.looseObject({
    file: FormFile.describe('A file.'),
    image: z.union([FormFile, z.array(FormFile).max(3)]).optional(),
    prompt: z.string().optional(),
    n: z.int().nullish(),
    stream: z.boolean().default(false),
    size: z.union([z.number(), z.string()]).optional(),
    tags: z.array(z.enum(['word', 'segment'])).optional(),
    strategy: z.union([z.literal('auto'), z.object({ type: z.string(), threshold: z.number() })]).optional(),
  }),
);
const read = (sent: string | Buffer, type = TYPE): Promise<Form> =>
  readForm(typeof sent === 'string' ? Buffer.from(sent) : sent, type, SHAPE);
const part = (head: string, content: string): string => `--b\r\n${head}\r\n\r\n${content}\r\n`;
const field = (name: string, content: string): string =>
  part(`Content-Disposition: form-data; name="${name}"`, content);
const file = (name: string, content: string, more = 'filename="f"'): string =>
  part(`Content-Disposition: form-data; name="${name}"; ${more}`, content);

describe('a form', () => {
  it('is read as clients write it', async () => {
    const form = new FormData();
    form.append(
      'file',
      new File([Buffer.from([0, 255, 13, 10, 45, 45])], 'ä "x".bin', { type: 'image/PNG' }),
    );
    form.append('response_format', 'text');
    const sent = new Response(form);
    const type = sent.headers.get('content-type') ?? '';
    expect(await read(Buffer.from(await sent.arrayBuffer()), type)).toEqual({
      file: { name: 'ä "x".bin', mediaType: 'image/png', bytes: Buffer.from([0, 255, 13, 10, 45, 45]) },
      response_format: 'text',
    });
  });

  it('may be empty, have a preamble, and have a quoted boundary', async () => {
    expect(await read('--b--')).toEqual({});
    const text = `before\r\n${field('prompt', '1')}${field('prompt', '2')}--b--\r\nbehind`;
    expect(await read(text, 'multipart/form-data; boundary="b"')).toEqual({ prompt: '1' });
  });

  it('is split at a boundary even where slices meet', async () => {
    for (const length of [1_048_574, 1_048_570, 1_048_520, 2_097_152]) {
      const form = await read(`${file('file', 'x'.repeat(length))}--b--`);
      expect(form['file']).toMatchObject({ bytes: { length } });
    }
  });

  it.each([
    ['', TYPE, 'ends within a part'],
    ['--b', TYPE, 'line end'],
    [`${field('a', '1')}`, TYPE, 'ends within a part'],
    [`--b\r\n${'x'.repeat(5_000)}\r\n\r\n\r\n--b--`, TYPE, 'too long'],
    [`${part('Content-Disposition: attachment; name="a"', '1')}--b--`, TYPE, 'no name'],
    [`${part('Content-Disposition: form-data', '1')}--b--`, TYPE, 'no name'],
    [`${field('a', '1').repeat(65)}--b--`, TYPE, 'more than 64'],
    [`${field('x'.repeat(101), '1')}--b--`, TYPE, 'not accepted'],
    [`${field('__proto__', '1')}--b--`, TYPE, 'not accepted'],
    ['--b--', 'multipart/form-data', 'no boundary'],
    ['--b--', `multipart/form-data; boundary=${'b'.repeat(71)}`, 'no boundary'],
  ])('is rejected if it is malformed: %.40j %s', async (text, type, why) => {
    await expect(read(text, type)).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining(why) as string,
    });
  });
});

describe('the members of a form', () => {
  it.each([
    [
      'numbers and booleans',
      [
        ['n', '-2'],
        ['stream', 'True'],
      ],
      { n: -2, stream: true },
    ],
    [
      'what is neither, for its schema to refuse',
      [
        ['n', '2x'],
        ['stream', '1'],
      ],
      { n: '2x', stream: '1' },
    ],
    [
      'what may be a text',
      [
        ['size', '7'],
        ['prompt', 'true'],
      ],
      { size: '7', prompt: 'true' },
    ],
    [
      'lists, in every notation',
      [
        ['tags[]', 'a'],
        ['tags', 'b'],
        ['tags[7]', 'c'],
      ],
      { tags: ['a', 'b', 'c'] },
    ],
    ['a list of one', [['tags[]', 'a']], { tags: ['a'] }],
    [
      'objects',
      [
        ['strategy[type]', 'x'],
        ['strategy[threshold]', '0.5'],
        ['strategy[toString]', '1'],
      ],
      { strategy: { type: 'x', threshold: 0.5, toString: '1' } },
    ],
    [
      'an object that is a text',
      [
        ['strategy', 'auto'],
        ['strategy[type]', 'x'],
      ],
      { strategy: 'auto' },
    ],
    [
      'unknown texts',
      [
        ['a', '1'],
        ['b[]', '2'],
        ['a', '3'],
        ['toString', '4'],
        ['c[d]', '5'],
      ],
      { a: ['1', '3'], 'b[]': '2', toString: '4', 'c[d]': '5' },
    ],
  ])('are read by their types: %s', async (_what, members, expected) => {
    const text = members.map(([name = '', value = '']) => field(name, value)).join('');
    expect(await read(`${text}--b--`)).toEqual(expected);
  });

  it('may be several files of one name', async () => {
    const text = `${file('image[]', '1')}${file('image[]', '2')}--b--`;
    const of = (content: string): object => ({ name: 'f', bytes: Buffer.from(content) });
    expect(await read(text)).toEqual({ image: [of('1'), of('2')] });
    expect(await read(`${file('image', '1')}--b--`)).toEqual({ image: [of('1')] });
  });

  it('may have names in the notation of older clients', async () => {
    const text = `${file('file', '1', "filename*=utf-8''na%C3%AFve.mp3")}--b--`;
    expect(await read(text)).toEqual({ file: { name: 'naïve.mp3', bytes: Buffer.from('1') } });
  });

  it.each([
    ['filename="a\\"', 'a\\'],
    [String.raw`filename="C:\x\"`, String.raw`C:\x` + '\\'],
    [String.raw`filename="a\\"`, 'a\\'],
    [String.raw`filename="a\"b"`, 'a"b'],
    [String.raw`filename="a\";b"`, 'a";b'],
    [String.raw`filename="a\"; filename*=utf-8''b`, 'a\\'],
    ['filename="a%22b"', 'a"b'],
  ])(
    'may have names with quotes and backslashes, escaped or as browsers write them: %s',
    async (as, name) => {
      expect(await read(`${file('file', '1', as)}--b--`)).toEqual({
        file: { name, bytes: Buffer.from('1') },
      });
    },
  );

  it.each([
    ['an unknown file', file('other', '1'), { status: 400, param: 'other' }],
    ['a known text as a file', file('prompt', '1'), { status: 400, param: 'prompt' }],
    ['a long text', field('prompt', 'x'.repeat(131_073)), { status: 400, param: 'prompt' }],
    ['a long unknown text', field('a', 'x'.repeat(131_073)), { status: 400, param: 'a' }],
    ['a large file', file('file', 'x'.repeat(FILE_LIMIT_BYTES + 1)), { status: 413, param: 'file' }],
  ])('are refused by name: %s', async (_what, text, problem) => {
    await expect(read(`${text}--b--`)).rejects.toMatchObject(problem);
  });

  it('may be as large as allowed', async () => {
    const largest = `${file('file', 'x'.repeat(FILE_LIMIT_BYTES))}${field('a', 'é'.repeat(65_536))}--b--`;
    const form = await read(largest);
    expect(form['file']).toMatchObject({ bytes: { length: FILE_LIMIT_BYTES } });
    expect(form['a']).toHaveLength(65_536);
  });
});

/** Content in which no boundary occurs, rich in the bytes that boundaries consist of. */
const content = fc
  .array(fc.constantFrom('\r', '\n', '-', '--', '\r\n', '\r\n--', 'a', 'é', '\0', '"', '--xyz'), {
    maxLength: 30,
  })
  .map((pieces) => pieces.join(''));
const members = fc.array(
  fc.record({
    name: fc.constantFrom('file', 'image[]', 'tags', 'tags[]', 'prompt', 'other', 'x[y]'),
    content,
  }),
  { maxLength: 20 },
);
type Member = { readonly name: string; readonly content: string };

/** The form that these members make, by the rules of `readForm`, from the members themselves. */
function reference(sent: readonly Member[]): Form {
  const all = (...names: string[]): string[] =>
    sent.filter(({ name }) => names.includes(name)).map((member) => member.content);
  const bytes = (text: string): { name: string; bytes: Buffer } => ({ name: 'f', bytes: Buffer.from(text) });
  const form: Record<string, Form[string]> = {};
  for (const name of ['other', 'x[y]']) {
    const [first, ...more] = all(name);
    if (first !== undefined) form[name] = more.length > 0 ? [first, ...more] : first;
  }
  const [prompt] = all('prompt');
  if (prompt !== undefined) form['prompt'] = prompt;
  const [only] = all('file');
  if (only !== undefined) form['file'] = bytes(only);
  if (all('image[]').length > 0) form['image'] = all('image[]').map(bytes);
  if (all('tags', 'tags[]').length > 0) form['tags'] = all('tags', 'tags[]');
  return form;
}

describe('any form', () => {
  const isFile = (name: string): boolean => name === 'file' || name === 'image[]';

  it('equals its members, in any order and with any content', async () => {
    await fc.assert(
      fc.asyncProperty(members, async (sent) => {
        const written = sent.map(({ name, content: text }) => (isFile(name) ? file : field)(name, text));
        expect(
          await read(
            `${written.join('').replaceAll('--b\r\n', '--boundary\r\n')}--boundary--`,
            'multipart/form-data; boundary=boundary',
          ),
        ).toEqual(reference(sent));
      }),
    );
  });

  it('is read or refused, whatever bytes are sent', async () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array)),
      fc
        .array(
          fc.constantFrom(
            '--b',
            '\r\n',
            '--',
            'Content-Disposition: form-data',
            '; name="a"',
            '=',
            ';',
            '"',
            'x',
            '; filename="f"',
            ': ',
          ),
          { maxLength: 40 },
        )
        .map((pieces) => Buffer.from(pieces.join(''))),
    );
    const checked = fc.assert(
      fc.asyncProperty(bytes, async (sent) => {
        const outcome: unknown = await read(sent).catch((error: unknown) => error);
        return !(outcome instanceof Error) || outcome instanceof Problem;
      }),
    );
    await expect(checked).resolves.toBeUndefined();
  });
});
