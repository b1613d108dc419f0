import type { Issue } from '@svc/contracts/problems';
import {
  CLOSE_BRACKET,
  COMMA,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  nameBetween,
  skipSpace,
  stringEnd,
  valueEnd,
} from './json-text.js';
import { jsonObject } from './json-members.js';
import { type MemberShape, type ObjectShape, type Shape, foldedName, objectShapeOf } from './shape.js';

/** Longer than any known name. */
const LONGEST_NAME = 64;

const EMPTY_LIST = /^\[\s*\]$/;

/** Known names by the form that a case-insensitive decoder compares. */
const foldedNames = new WeakMap<ObjectShape, ReadonlyMap<string, string>>();

/**
 * Reads a JSON text that was parsed and validated, and removes what was not validated: all but the last of
 * duplicate names, as JSON.parse does, and members that the schema strips. Also removes a null or an empty
 * list that means the same as leaving its member out. The rest keeps its bytes. A name that differs from a
 * known one only by case is an issue, since a case-insensitive decoder would confuse the two. One pass in
 * linear time.
 */
export class KnownJson {
  readonly issues: Issue[] = [];
  private at = 0;
  private changes = 0;
  /** Path of the value being read. */
  private readonly path: (string | number)[] = [];
  private kept: Map<string, string> = new Map();

  constructor(private readonly text: string) {}

  /** The text to pass on; `value` is the result of parsing it. */
  read(shape: Shape, value: unknown): string {
    this.at = skipSpace(this.text, 0);
    return this.value(shape, value);
  }

  /** The members of the object that was read, each as the text to pass on. */
  get members(): Map<string, string> {
    return this.kept;
  }

  private value(shape: Shape | undefined, value: unknown): string {
    const start = this.at;
    const code = this.text.charCodeAt(start);
    const before = this.changes;
    let made: (() => string) | undefined;
    if (code === OPEN_BRACE && shape && shape.objects.length > 0) made = this.object(shape, value);
    else if (code === OPEN_BRACKET && shape?.items) made = this.list(shape.items, value);
    else this.at = valueEnd(this.text, start);
    const end = this.at;
    return made === undefined || this.changes === before ? this.text.slice(start, end).trimEnd() : made();
  }

  private list(items: Shape, value: unknown): () => string {
    const values: readonly unknown[] = Array.isArray(value) ? value : [];
    const elements: string[] = [];
    this.at = skipSpace(this.text, this.at + 1);
    while (this.at < this.text.length && this.text.charCodeAt(this.at) !== CLOSE_BRACKET) {
      const index = elements.length;
      this.path.push(index);
      elements.push(this.value(items, values[index]));
      this.path.pop();
      this.next();
    }
    this.at += 1;
    return () => `[${elements.join(',')}]`;
  }

  private object(shapes: Shape, value: unknown): () => string {
    const shape = objectShapeOf(shapes, value);
    const values = value as Readonly<Record<string, unknown>> | undefined;
    const kept = new Map<string, string>();
    this.at = skipSpace(this.text, this.at + 1);
    while (this.text.charCodeAt(this.at) === QUOTE) {
      const nameEnd = stringEnd(this.text, this.at);
      const name = nameBetween(this.text, this.at, nameEnd);
      this.at = skipSpace(this.text, this.text.indexOf(':', nameEnd) + 1);
      const member = shape?.members.get(name);
      this.path.push(name);
      const text = this.value(member?.shape, member && values?.[name]);
      if (kept.delete(name)) this.changes += 1;
      if (this.isKept(shape, member, text)) kept.set(name, text);
      else this.changes += 1;
      if (!member && shape) this.checkName(name, shape);
      this.path.pop();
      this.next();
    }
    this.at += 1;
    // Objects end from the inside out, so the last one assigned is the outermost.
    this.kept = kept;
    return () => jsonObject(kept);
  }

  /** Moves past the comma, or to the bracket that ends the list or object. */
  private next(): void {
    const at = skipSpace(this.text, this.at);
    this.at = this.text.charCodeAt(at) === COMMA ? skipSpace(this.text, at + 1) : at;
  }

  private isKept(shape: ObjectShape | undefined, member: MemberShape | undefined, text: string): boolean {
    if (member?.emptyIsNothing === true && EMPTY_LIST.test(text)) return false;
    if (member) return !(member.nullIsNothing && text === 'null');
    return shape?.keepsUnknown ?? true;
  }

  private checkName(name: string, shape: ObjectShape): void {
    if (name.length > LONGEST_NAME) return;
    const known = foldedNamesOf(shape).get(foldedName(name));
    if (known === undefined) return;
    const message = `must be spelled ${known}`;
    this.issues.push({ code: 'unrecognized_keys', path: [...this.path], message });
  }
}

function foldedNamesOf(shape: ObjectShape): ReadonlyMap<string, string> {
  let names = foldedNames.get(shape);
  if (!names) {
    names = new Map([...shape.members.keys()].map((name) => [foldedName(name), name]));
    foldedNames.set(shape, names);
  }
  return names;
}
