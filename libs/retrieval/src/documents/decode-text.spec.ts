import { describe, expect, it } from 'vitest';
import { decodeText } from './decode-text.js';

const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values);

describe('decodeText', () => {
  it('reads UTF-8 with or without a byte order mark, and drops the mark', () => {
    expect(decodeText(Buffer.from('Größe 数 🙂'))).toBe('Größe 数 🙂');
    expect(decodeText(Buffer.from('\uFEFFä'))).toBe('ä');
  });

  it('reads UTF-16 of either byte order by its mark', () => {
    expect(decodeText(Buffer.from('\uFEFFä数', 'utf16le'))).toBe('ä数');
    expect(decodeText(Buffer.from('\uFEFFä数', 'utf16le').swap16())).toBe('ä数');
  });

  it('reads anything but UTF-8 as Windows-1252', () => {
    expect(decodeText(bytes(0x93, 0x47, 0x72, 0xf6, 0x94, 0x80))).toBe('“Grö”€');
  });

  it('rejects bytes that no text has: a NUL, or many control characters', () => {
    expect(() => decodeText(bytes(0x61, 0x00, 0x62))).toThrow('neither text');
    expect(() => decodeText(bytes(0x61, 0x01, 0x02, 0x62))).toThrow('neither text');
    expect(decodeText(Buffer.from('a\tb\r\n\f\u001b[0m'))).toBe('a\tb\r\n\f\u001b[0m');
  });
});
