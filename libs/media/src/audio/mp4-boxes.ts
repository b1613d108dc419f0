import { DAMAGED, Unreadable } from '@svc/threads';
import { ambiguous } from '../audio-codecs/audio-terms.js';

export interface Box {
  readonly name: string;
  /** Where the box begins in the file, with its head. */
  readonly at: number;
  readonly content: Buffer;
}

const MOST_BOXES = 100_000;

/** The boxes in a part of a file that begins at `offset`. */
export function boxesIn(bytes: Buffer, offset = 0): Box[] {
  const boxes: Box[] = [];
  for (let at = 0; at + 8 <= bytes.length;) {
    const name = bytes.toString('latin1', at + 4, at + 8);
    const given = bytes.readUInt32BE(at);
    const isLong = given === 1;
    const size = isLong ? Number(bytes.readBigUInt64BE(at + 8)) : given === 0 ? bytes.length - at : given;
    const head = isLong ? 16 : 8;
    if (size < head || boxes.length >= MOST_BOXES) throw new Unreadable(DAMAGED);
    boxes.push({ name, at: offset + at, content: bytes.subarray(at + head, at + size) });
    at += size;
  }
  return boxes;
}

/** The only box of this name, if there is one. */
export function onlyBox(boxes: readonly Box[], name: string): Box | undefined {
  const [first, second] = boxes.filter((box) => box.name === name);
  if (second) throw new Unreadable(ambiguous(`it has two boxes ${JSON.stringify(name)}`));
  return first;
}

/** The content of the box at a path of names, each the only one of its name. */
export function contentAt(bytes: Buffer, ...path: readonly string[]): Buffer | undefined {
  let content: Buffer | undefined = bytes;
  for (const name of path) content = content && onlyBox(boxesIn(content), name)?.content;
  return content;
}
