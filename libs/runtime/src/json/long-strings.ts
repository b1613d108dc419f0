import { randomUUID } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';

/** Small pieces are joined up to this size, and large ones are cut to it. */
const PIECE_BYTES = 262_144;
/** Bytes written before yielding to the event loop. */
const SLICE_BYTES = 1_048_576;

/**
 * The long strings of a JSON text, kept beside it as the bytes between their quotes. A short placeholder
 * stands for each in the text, so that reading and editing the text is cheap, and megabytes are neither
 * decoded nor copied. The sender of the text cannot guess the placeholders.
 */
export class LongStrings {
  private mark: string | undefined;
  private readonly kept: (readonly Uint8Array[])[] = [];

  /** Keeps the bytes between the quotes of a string, in pieces. Returns the placeholder for the text. */
  keep(pieces: readonly Uint8Array[]): string {
    this.mark ??= `${randomUUID()}:`;
    this.kept.push(pieces);
    return `${this.mark}${this.kept.length - 1};`;
  }

  get isEmpty(): boolean {
    return this.mark === undefined;
  }

  /** The index of the string that a placeholder stands for; `undefined` for any other value. */
  placeOf(value: string): number | undefined {
    const { mark } = this;
    return mark !== undefined && value.startsWith(mark) ? Number(value.slice(mark.length, -1)) : undefined;
  }

  /** The beginning of a value, which a placeholder may stand for. */
  beginningOf(value: string, characters: number): string {
    const place = this.placeOf(value);
    if (place === undefined) return value.slice(0, characters);
    const [piece = new Uint8Array()] = this.kept[place] ?? [];
    return Buffer.from(piece.subarray(0, characters)).toString('latin1');
  }

  /** The length in bytes of a text with its strings restored. */
  byteLength(text: string): number {
    return this.parts(text).reduce(
      (sum, { bytes, rest }) => sum + sizeOf(bytes) + Buffer.byteLength(rest),
      0,
    );
  }

  /** The bytes of a text with its strings restored, in pieces; a promise only if it has any. */
  bytesOf(text: string): readonly Uint8Array[] | Promise<readonly Uint8Array[]> {
    return this.isEmpty ? [Buffer.from(text)] : this.restored(text);
  }

  private async restored(text: string): Promise<readonly Uint8Array[]> {
    const pieces = new Pieces();
    let written = 0;
    for (const { bytes, rest } of this.parts(text)) {
      for (const each of bytes) pieces.add(each);
      if (rest !== '') pieces.add(Buffer.from(rest));
      written += sizeOf(bytes) + rest.length;
      if (written < SLICE_BYTES) continue;
      written = 0;
      await turn();
    }
    return pieces.all();
  }

  /** Splits a text at its placeholders: the bytes of each string, and the text after it. */
  private parts(text: string): { bytes: readonly Uint8Array[]; rest: string }[] {
    if (this.mark === undefined) return [{ bytes: [], rest: text }];
    const [first = '', ...others] = text.split(this.mark);
    const parts = others.map((part) => {
      const end = part.indexOf(';');
      return { bytes: this.kept[Number(part.slice(0, end))] ?? [], rest: part.slice(end + 1) };
    });
    return [{ bytes: [], rest: first }, ...parts];
  }
}

/** Joins small pieces and cuts large ones. */
class Pieces {
  private readonly done: Uint8Array[] = [];
  private small: Uint8Array[] = [];
  private smallBytes = 0;

  add(bytes: Uint8Array): void {
    if (bytes.length < PIECE_BYTES) {
      this.small.push(bytes);
      this.smallBytes += bytes.length;
      if (this.smallBytes >= PIECE_BYTES) this.join();
      return;
    }
    this.join();
    for (let at = 0; at < bytes.length; at += PIECE_BYTES)
      this.done.push(bytes.subarray(at, at + PIECE_BYTES));
  }

  all(): readonly Uint8Array[] {
    this.join();
    return this.done;
  }

  private join(): void {
    const [only] = this.small;
    if (!only) return;
    this.done.push(this.small.length === 1 ? only : Buffer.concat(this.small));
    this.small = [];
    this.smallBytes = 0;
  }
}

function sizeOf(pieces: readonly Uint8Array[]): number {
  let bytes = 0;
  for (const { length } of pieces) bytes += length;
  return bytes;
}
