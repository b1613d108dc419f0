import { crc32, deflateSync, inflateSync } from 'node:zlib';
import sharp from 'sharp';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { heicImage } from '../test/heic-image.js';
import { imagesConfig } from './images.config.js';
import { ImageRejected, Images } from './images.js';

const images = new Images(z.object({ ...imagesConfig }).parse({ IMAGES_LIMIT_PIXELS: 4_000_000 }));
afterAll(() => images.close());

const flat = (background: string | { r: number; g: number; b: number; alpha: number }) =>
  sharp({ create: { width: 80, height: 70, channels: 4, background } });
const convert = (bytes: Uint8Array, output: object = {}) =>
  images.convert(
    Buffer.from(bytes).toString('base64'),
    { format: 'png', quality: 90, ...output },
    { account: 'me' },
  );
const copy = (bytes: Uint8Array) => images.copy(bytes, { account: 'me' });
const TEXT = Buffer.from('0000000d74455874706172616d650073656372657400000000', 'hex');

/** A PNG with a text chunk after its header. */
function commented(png: Buffer): Buffer {
  const text = Buffer.from(TEXT);
  text.writeUInt32BE(text.length - 12);
  return Buffer.concat([png.subarray(0, 33), text, png.subarray(33)]);
}

describe('a converted image', () => {
  it.each(['png', 'jpeg', 'webp'] as const)('has the requested format: %s', async (format) => {
    for (const source of ['png', 'jpeg', 'webp', 'gif', 'avif'] as const) {
      const file = await convert(await flat('red').toFormat(source).toBuffer(), { format });
      expect([file.width, file.height]).toEqual([80, 70]);
      expect((await sharp(file.bytes).metadata()).format).toBe(format);
    }
  });

  it('is the same PNG if that has nothing but its image', async () => {
    const png = await flat('red').png().toBuffer();
    expect(Buffer.from((await convert(png)).bytes).equals(png)).toBe(true);
  });

  it('has no metadata of its source, and nothing after its end', async () => {
    const png = await flat('red').png().toBuffer();
    const sources = [
      commented(png),
      Buffer.concat([png, Buffer.from('<script>secret')]),
      await flat('red')
        .withExif({ IFD0: { ImageDescription: 'secret' } })
        .png()
        .toBuffer(),
      await flat('red')
        .withExif({ IFD0: { ImageDescription: 'secret' } })
        .jpeg()
        .toBuffer(),
    ];
    for (const source of sources) {
      expect(source.includes('secret')).toBe(true);
      for (const format of ['png', 'jpeg'])
        expect(Buffer.from((await convert(source, { format })).bytes).includes('secret')).toBe(false);
    }
  });

  it.each(['png', 'jpeg', 'webp'] as const)('has the given tags: %s', async (format) => {
    const { bytes } = await convert(await flat('red').png().toBuffer(), {
      format,
      exif: { ImageDescription: 'a lighthouse' },
    });
    expect((await sharp(bytes).metadata()).exif?.includes('a lighthouse')).toBe(true);
  });

  it.each([
    ['black', flat('black').png()],
    ['black JPEG', flat('black').jpeg()],
    ['transparent', flat({ r: 255, g: 255, b: 255, alpha: 0 }).png()],
    ['black and half transparent', flat({ r: 0, g: 0, b: 0, alpha: 0.5 }).webp()],
  ])('cannot be made of an image that is all %s', async (_, image) => {
    await expect(convert(await image.toBuffer())).rejects.toBeInstanceOf(ImageRejected);
  });

  it('may be dark', async () => {
    await expect(convert(await flat('#101010').png().toBuffer())).resolves.toMatchObject({ width: 80 });
  });

  it.each(['png', 'webp'] as const)(
    'may be a black subject on a transparent background: %s',
    async (format) => {
      const subject = await sharp({ create: { width: 20, height: 20, channels: 3, background: 'black' } })
        .png()
        .toBuffer();
      const cutout = flat({ r: 0, g: 0, b: 0, alpha: 0 }).composite([{ input: subject }]);
      const { bytes } = await convert(await cutout.toFormat(format).toBuffer(), { format });
      expect((await sharp(bytes).stats()).isOpaque).toBe(false);
    },
  );

  it('cannot be made of broken, oversized or other bytes', async () => {
    const png = await flat('red').png().toBuffer();
    const large = await sharp({ create: { width: 2_001, height: 2_000, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="80" height="80"/>');
    for (const bytes of [png.subarray(0, 60), large, svg, Buffer.from('<html>'), Buffer.alloc(0)])
      await expect(convert(bytes)).rejects.toBeInstanceOf(ImageRejected);
  });
});

/** A PNG with bytes behind the compressed pixels, in the same chunk. */
function stuffed(png: Buffer, more: Buffer): Buffer {
  const at = png.indexOf('IDAT') - 4;
  const end = at + 12 + png.readUInt32BE(at);
  const content = Buffer.concat([png.subarray(at + 8, end - 4), more]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  sum.writeUInt32BE(crc32(content, crc32('IDAT')));
  return Buffer.concat([png.subarray(0, at), length, Buffer.from('IDAT'), content, sum, png.subarray(end)]);
}

describe('a supplied image has nothing behind its pixels', () => {
  const secret = Buffer.from('<script>secret');

  it.each([
    ['behind the end of a PNG', (png: Buffer) => Buffer.concat([png, secret])],
    ['behind the pixels of a PNG', (png: Buffer) => stuffed(png, secret)],
    ['in a chunk of text', commented],
  ])('when it is read, copied or converted: %s', async (_, hide) => {
    const bare = await flat('red').png().toBuffer();
    const file = hide(bare);
    expect(file.includes('secret')).toBe(true);
    const read = await images.read(file, { account: 'me' });
    for (const bytes of [
      Buffer.from(read.url?.split(',')[1] ?? '', 'base64'),
      (await copy(file)).bytes,
      (await convert(file)).bytes,
    ]) {
      expect(Buffer.from(bytes).includes('secret')).toBe(false);
      expect(await sharp(bytes).metadata()).toMatchObject({ format: 'png', width: 80, height: 70 });
    }
    expect(read.url).toBe(`data:image/png;base64,${bare.toString('base64')}`);
  });

  it.each(['jpeg', 'gif', 'webp'] as const)('when it is read: %s', async (format) => {
    const bare = await flat('red').toFormat(format).toBuffer();
    const { url } = await images.read(Buffer.concat([bare, secret]), { account: 'me' });
    expect(url).toBe(`data:image/${format};base64,${bare.toString('base64')}`);
  });

  it('is refused if its data have more than the pixels', async () => {
    const png = await flat('red').png().toBuffer();
    const at = png.indexOf('IDAT') - 4;
    const end = at + 12 + png.readUInt32BE(at);
    const more = deflateSync(Buffer.concat([inflateSync(png.subarray(at + 8, end - 4)), secret]));
    const empty = Buffer.concat([
      png.subarray(0, at),
      Buffer.from([0, 0, 0, 0]),
      Buffer.from('IDAT'),
      png.subarray(end - 4),
    ]);
    const file = stuffed(empty, more);
    await expect(images.read(file, { account: 'me' })).rejects.toBeInstanceOf(ImageRejected);
    await expect(convert(file)).rejects.toBeInstanceOf(ImageRejected);
  });
});

describe('a copy of a supplied image', () => {
  it('has a format that every image server reads', async () => {
    for (const [source, format] of [
      ['png', 'png'],
      ['gif', 'png'],
      ['jpeg', 'jpeg'],
      ['webp', 'webp'],
      ['avif', 'webp'],
    ] as const) {
      const copied = await copy(await flat('red').toFormat(source).toBuffer());
      expect(copied).toMatchObject({ format, width: 80, height: 70 });
      expect(await sharp(copied.bytes).metadata()).toMatchObject({ format, width: 80, height: 70 });
    }
    const decoded = await copy(heicImage());
    expect(decoded).toMatchObject({ format: 'jpeg', width: 80, height: 70 });
    expect((await sharp(decoded.bytes).metadata()).format).toBe('jpeg');
  });

  it.each(['png', 'jpeg', 'webp', 'gif', 'avif'] as const)(
    'has no metadata and nothing after the image: %s',
    async (format) => {
      const described = flat('red').withExif({ IFD0: { ImageDescription: 'secret' } });
      const file = Buffer.concat([
        await described.toFormat(format).toBuffer(),
        Buffer.from('<script>secret'),
      ]);
      expect(Buffer.from((await copy(file)).bytes).includes('secret')).toBe(false);
    },
  );

  it('is upright, as the camera held it', async () => {
    const lying = await flat('red').withMetadata({ orientation: 6 }).jpeg().toBuffer();
    const copied = await copy(lying);
    expect(copied).toMatchObject({ width: 70, height: 80 });
    expect((await sharp(copied.bytes).metadata()).orientation).toBeUndefined();
  });

  it('may be black or transparent, and keeps its transparency', async () => {
    const clear = flat({ r: 255, g: 0, b: 0, alpha: 0 });
    for (const file of [
      await clear.gif().toBuffer(),
      await clear.webp().toBuffer(),
      await clear.png().toBuffer(),
    ])
      expect((await sharp((await copy(file)).bytes).stats()).isOpaque).toBe(false);
    await expect(copy(await flat('black').jpeg().toBuffer())).resolves.toMatchObject({ width: 80 });
  });

  it('cannot be made of broken or other bytes', async () => {
    const png = await flat('red').png().toBuffer();
    for (const bytes of [png.subarray(0, 60), Buffer.from('GIF89a/*<script>*/'), Buffer.alloc(0)])
      await expect(copy(bytes)).rejects.toBeInstanceOf(ImageRejected);
  });
});
