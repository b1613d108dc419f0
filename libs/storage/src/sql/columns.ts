/**
 * Columns of rows as PostgreSQL arrays in binary form. As texts, each value would be made a string, joined
 * and copied by the client, and parsed by the server.
 */

/** How values are written. Texts can be cast to any type. */
const OIDS = { text: 25, int8: 20, timestamptz: 1184 } as const;

/** Dimensions, whether there are nulls, type, length and lower bound, as 32-bit numbers. */
const HEADER_BYTES = 20;
const LENGTH_BYTES = 4;
/** The most bytes of a character of a string. */
const CHARACTER_BYTES = 3;
/** The bytes of longer texts are counted first. */
const SHORT = 1_000;
/** PostgreSQL counts time in microseconds from 2000 on. */
const EPOCH_MS = Date.UTC(2000, 0);
const INT8_MOST = 2n ** 63n - 1n;
const INT8_LEAST = -(2n ** 63n);
const WORD = 2 ** 32;

/** The column that is being written, which is copied at its end. It keeps this size. */
const KEPT_BYTES = 256 * 1024;
let bytes = Buffer.allocUnsafe(KEPT_BYTES);
let view = viewOf(bytes);
let end = 0;

/** A column of texts. */
export function textColumn<Row>(rows: readonly Row[], value: (row: Row) => string | null): Buffer {
  begin('text', rows.length);
  for (const row of rows) addText(value(row));
  return finished();
}

/** A column of `int8`. Throws RangeError for any other number. */
export function int8Column<Row>(rows: readonly Row[], value: (row: Row) => number | bigint | null): Buffer {
  begin('int8', rows.length);
  for (const row of rows) {
    const number = value(row);
    if (number === null) addNull();
    else if (typeof number === 'bigint') addBig(number);
    else addWhole(number);
  }
  return finished();
}

/** A column of `timestamptz`, from texts that JavaScript can parse, at its precision. */
export function timeColumn<Row>(rows: readonly Row[], value: (row: Row) => string): Buffer {
  begin('timestamptz', rows.length);
  let text = '';
  let micros = 0;
  for (const row of rows) {
    const next = value(row);
    // Rows of the same moment often follow each other.
    if (next !== text) micros = (Date.parse((text = next)) - EPOCH_MS) * 1_000;
    addWhole(micros);
  }
  return finished();
}

function begin(type: keyof typeof OIDS, length: number): void {
  end = 0;
  reserve(HEADER_BYTES);
  // An array without values has no dimension, and PostgreSQL ignores the rest of this header then.
  addWord(length === 0 ? 0 : 1);
  addWord(0);
  addWord(OIDS[type]);
  if (length === 0) return;
  addWord(length);
  addWord(1);
}

function finished(): Buffer {
  const column = Buffer.from(bytes.subarray(0, end));
  if (bytes.length > KEPT_BYTES) replace(KEPT_BYTES, 0);
  return column;
}

function addText(text: string | null): void {
  if (text === null) return addNull();
  reserve(LENGTH_BYTES + (text.length < SHORT ? CHARACTER_BYTES * text.length : Buffer.byteLength(text)));
  const length = bytes.write(text, end + LENGTH_BYTES);
  addWord(length);
  end += length;
}

function addNull(): void {
  reserve(LENGTH_BYTES);
  addWord(-1);
  view.setInt32(LENGTH_BYTES, 1);
}

function addBig(value: bigint): void {
  if (value > INT8_MOST || value < INT8_LEAST) throw new RangeError(`${value} is not a 64-bit number`);
  reserve(LENGTH_BYTES + 8);
  addWord(8);
  view.setBigInt64(end, value);
  end += 8;
}

function addWhole(value: number): void {
  if (!Number.isSafeInteger(value)) throw new RangeError(`${value} is not a safe integer`);
  reserve(LENGTH_BYTES + 8);
  addWord(8);
  addWord(Math.floor(value / WORD));
  // The lower 32 bits.
  addWord(value | 0);
}

function addWord(value: number): void {
  view.setInt32(end, value);
  end += 4;
}

function reserve(more: number): void {
  if (end + more <= bytes.length) return;
  replace(2 * (end + more), end);
}

function replace(length: number, kept: number): void {
  const before = bytes;
  bytes = Buffer.allocUnsafe(length);
  view = viewOf(bytes);
  before.copy(bytes, 0, 0, kept);
}

function viewOf({ buffer, byteOffset, length }: Buffer): DataView {
  return new DataView(buffer, byteOffset, length);
}
