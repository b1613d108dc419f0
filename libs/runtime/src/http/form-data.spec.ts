import { describe, expect, it } from 'vitest';
import { readForm } from './form-data.js';

const TYPE = 'multipart/form-data; boundary=b';
const part = (head: string, content: string): string => `--b\r\n${head}\r\n\r\n${content}\r\n`;
const field = (name: string, content: string): string =>
  part(`Content-Disposition: form-data; name="${name}"`, content);

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
    expect(await readForm(Buffer.from(await sent.arrayBuffer()), type)).toEqual({
      file: { name: 'ä "x".bin', mediaType: 'image/png', bytes: Buffer.from([0, 255, 13, 10, 45, 45]) },
      response_format: 'text',
    });
  });

  it('may be empty, have a preamble, and have a quoted boundary', async () => {
    expect(await readForm(Buffer.from('--b--'), TYPE)).toEqual({});
    const text = `before\r\n${field('a', '1')}${field('a', '2')}--b--\r\nbehind`;
    expect(await readForm(Buffer.from(text), 'multipart/form-data; boundary="b"')).toEqual({ a: '1' });
  });

  it('is split at a boundary even where slices meet', async () => {
    for (const length of [1_048_574, 1_048_570, 1_048_520, 2_097_152]) {
      const form = await readForm(Buffer.from(`${field('a', 'x'.repeat(length))}--b--`), TYPE);
      expect(form['a']).toHaveLength(length);
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
    ['--b--', 'multipart/form-data', 'no boundary'],
    ['--b--', `multipart/form-data; boundary=${'b'.repeat(71)}`, 'no boundary'],
  ])('is rejected if it is malformed: %.40j %s', async (text, type, why) => {
    await expect(readForm(Buffer.from(text), type)).rejects.toMatchObject({
      code: 'INVALID_REQUEST',
      message: expect.stringContaining(why) as string,
    });
  });
});
