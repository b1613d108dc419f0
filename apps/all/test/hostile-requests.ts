import type { Random } from './random.js';

export interface HostileRequest {
  /** A description of the mutation, for the report of a failure. */
  readonly what: string;
  readonly body: string | Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
}

type Fields = Record<string, unknown>;
type Path = readonly (string | number)[];

/** A placeholder for the text that replaces it once the rest is JSON. */
const HOLE = '\u2603hole\u2603';

const DEEP = 10_000;

/** The items of a list that is separated by bars. */
function listed(text: string): string[] {
  return text.split(/ \| |\n/).map((item) => item.trim());
}

/** JSON values that replace fields. */
const VALUES =
  listed(String.raw`null | true | false | 0 | -0 | 1 | -1 | 2 | 1.5 | 3 | 129 | 1e2 | 1e-400 | 0.1e-7
  1e999 | -1e999 | 1e308 | 9007199254740993 | 123456789012345678901234567890 | 2147483648 | 4294967296
  -2147483649 | 18446744073709551616 | 1E+2 | 5e-324 | "" | " " | "0" | "true" | "null" | "NaN" | "Infinity"
  "undefined" | "[object Object]" | "\u0000" | "\ud800" | "\udfff\ud800" | "\ufeffx" | "\uffff" | "👩‍👩‍👧‍👦" | "İıſK"
  "a\u0300\u0301\u0302" | "\u202eabc\u2066" | "\u001b[2J" | "١٢٣" | "שלום" | "\r\n\r\nHTTP/1.1 200 OK"
  "__proto__" | "constructor" | "prototype" | "toString" | "hasOwnProperty" | "_errors" | "<think>" | "%E0%A4%A"
  "../../etc/passwd" | "'; DROP TABLE account; --" | "%00" | "data:" | "data:," | "data:image/png;base64,%%%"
  "data:image/png;base64,AAAA" | "http://" | "file:///etc/passwd" | "http://127.0.0.1:1/" | "javascript:alert(1)"
  "http://[::ffff:7f00:1]/" | [] | [[]] | [null] | [0] | [""] | [{}] | [[[[[[[[]]]]]]]] | [1,"a",null,{}]
  ["a","b","c","d","e"] | {} | {"a":1} | {"":""} | {"length":4294967295} | {"type":null} | {"type":"text"}
  {"then":1} | {"__proto__":{"stream":true}} | {"constructor":{"prototype":{"x":1}}} | {"toJSON":1}
  {"_errors":[1]} | {"type":"text","type":"image_url"} | {"role":"user","role":7} | {"hasOwnProperty":1}
  {"type":"text","text":"a","text":""} | {"toString":null,"valueOf":null} | {"0":"a","1":"b"}`);

/** Invalid JSON. */
const BROKEN =
  listed(String.raw`NaN | Infinity | -Infinity | undefined | 'a' | 01 | +1 | .5 | 1. | 0x10 | 1_000 | 1n
  --1 | "\x41" | "\u12" | " | [1,] | {"a":1,} | {a:1} | [ | { | ] | } | /**/1 | `).concat('"\u0000"', '"\n"');

const nested = (open: string, close: string): string => `${open.repeat(DEEP)}1${close.repeat(DEEP)}`;

/** V8 stores names that are array indexes differently. */
const DEEP_VALUES = [nested('[', ']'), nested('{"a":', '}'), nested('{"0":', '}'), nested('[{"1":', '}]')];

const ROOTS =
  listed(String.raw` | null | true | 0 | 1e999 | "" | "a" | [] | [{}] | {} | {"model":"able"} | {}{}
  {"messages":[]} | {} x | data: {} | <xml/> | model=test-model | {"messages":[[[[`)
    .concat(' ', '\n', '\ufeff{}', '[['.repeat(DEEP), '{"a":'.repeat(DEEP), `[${'0,'.repeat(5_000)}0]`)
    .concat(DEEP_VALUES);

const KEYS =
  listed(String.raw`__proto__ | constructor | prototype | toString | hasOwnProperty | _errors | then | toJSON
   | x_unknown | sim | \u0000 | \ud83d | 👾 | 0 | -1 | Model | messages.0`).concat(
    ' ',
    'model ',
    'a'.repeat(5_000),
  );

const SUFFIXES =
  listed(`a | = | a= | :a=b | __proto__=1 | disable_thinking=maybe | enable_web_search=%E0%A4%A | a=b&&&=
  character_slug= | strip_thinking_response=true&strip_thinking_response=0 | x=${'%00'.repeat(999)}`);

const HEADERS: readonly Record<string, string>[] = [
  { 'accept-encoding': 'gzip;q=NaN, br;q=1e999, *;q=-1' },
  { 'accept-encoding': ',;q=,;;=' },
  { 'content-type': 'application/json; charset=utf-16' },
  { 'content-type': 'application/json;;;' },
  { 'content-type': 'application/x-www-form-urlencoded' },
  { 'content-type': 'text/json' },
  { 'content-encoding': 'gzip' },
  { accept: 'text/event-stream;q=x' },
];

/** Derives malformed requests from valid ones. */
export class HostileRequests {
  private readonly fields: readonly { readonly body: Fields; readonly path: Path }[];
  private at = 0;

  constructor(
    private readonly random: Random,
    private readonly decent: readonly Fields[],
  ) {
    this.fields = decent.flatMap((body) => pathsOf(body).map((path) => ({ body, path })));
  }

  next(): HostileRequest {
    const draw = this.random.below(1_000);
    const headers = draw % 33 === 0 ? this.random.pick(HEADERS) : {};
    const { what, body } = this.draw(draw);
    return { what: `${what} ${JSON.stringify(headers)}`, body, headers };
  }

  private draw(draw: number): Omit<HostileRequest, 'headers'> {
    if (draw < 550) return this.replaced('value', this.random.pick(VALUES));
    if (draw < 600) return this.replaced('broken', this.random.pick(BROKEN));
    if (draw < 615) return this.replaced('deep', this.random.pick(DEEP_VALUES));
    if (draw < 630) return this.replaced('large', this.large());
    if (draw < 700) return this.withMember();
    if (draw < 770) return this.doubled();
    if (draw < 850) return this.truncated();
    if (draw < 920) return { what: 'root', body: this.random.pick(ROOTS) };
    if (draw < 950) return this.garbled();
    if (draw < 970) return this.suffixed();
    return { what: 'decent', body: JSON.stringify(this.random.pick(this.decent)) };
  }

  /** Each field of each valid request gets its turn. */
  private replaced(what: string, text: string): Omit<HostileRequest, 'headers'> {
    const { body, path } = this.fields[this.at++ % this.fields.length] ?? { body: {}, path: [] };
    return { what: `${what} at ${path.join('.')}`, body: withText(body, path, text) };
  }

  private large(): string {
    const size = 50_000 + this.random.below(350_000);
    return this.random.pick([
      `"${'a'.repeat(size)}"`,
      `"${'\\u0000'.repeat(size / 6)}"`,
      `"${'\\\\\\"'.repeat(size / 4)}"`,
      `"${'👾'.repeat(size / 4)}"`,
      `"test-model:${':a'.repeat(size / 2)}"`,
      `"data:image/png;base64,${'A'.repeat(size)}"`,
      `[${'{},'.repeat(size / 3)}{}]`,
      `[${'0,'.repeat(size / 2)}0]`,
      `[${'"a",'.repeat(size / 4)}"a"]`,
      `{${Array.from({ length: size / 100 }, (_, at) => `"k${at}":${at}`).join(',')}}`,
      '9'.repeat(size),
      `0.${'1'.repeat(size)}e-${'9'.repeat(100)}`,
    ]);
  }

  /** Adds a member, at the root or in a field that is an object. */
  private withMember(): Omit<HostileRequest, 'headers'> {
    const [key, text] = [this.random.pick(KEYS), this.random.pick(VALUES)];
    const objects = this.fields.filter(({ body, path }) => isFields(valueAt(body, path)));
    const { body, path } = this.random.pick(objects);
    const inner = JSON.stringify(valueAt(body, path)).slice(1);
    const member = `{"${key}":${text}${inner === '}' ? '' : ','}${inner}`;
    return { what: `member ${key.slice(0, 20)} at ${path.join('.')}`, body: withText(body, path, member) };
  }

  private doubled(): Omit<HostileRequest, 'headers'> {
    const body = this.random.pick(this.decent);
    const name = this.random.pick(Object.keys(body));
    const text = `${JSON.stringify(body).slice(0, -1)},"${name}":${this.random.pick(VALUES)}}`;
    return { what: `double ${name}`, body: text };
  }

  private truncated(): Omit<HostileRequest, 'headers'> {
    const text = JSON.stringify(this.random.pick(this.decent));
    return { what: 'truncated', body: text.slice(0, this.random.below(text.length)) };
  }

  /** Replaces some bytes, mostly by invalid UTF-8. */
  private garbled(): Omit<HostileRequest, 'headers'> {
    const bytes = Uint8Array.from(Buffer.from(JSON.stringify(this.random.pick(this.decent))));
    for (let count = 1 + this.random.below(5); count > 0; count -= 1)
      bytes[this.random.below(bytes.length)] = this.random.below(256);
    return { what: 'garbled', body: bytes };
  }

  private suffixed(): Omit<HostileRequest, 'headers'> {
    const suffix = this.random.pick(SUFFIXES);
    const { model, ...rest } = this.random.pick(this.decent);
    const body = JSON.stringify({ ...rest, model: `${String(model)}:${suffix}` });
    return { what: `suffix ${suffix.slice(0, 40)}`, body };
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The paths of all values inside a value, without the value itself. */
function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const step = [...path, Array.isArray(value) ? Number(key) : key];
    return [step, ...pathsOf(inner, step)];
  });
}

function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((inner, step) => (inner as Fields)[step], value);
}

/** The JSON of a value, with the value at the path replaced by this text. */
function withText(body: Fields, path: Path, text: string): string {
  const copy = structuredClone(body);
  const holder = valueAt(copy, path.slice(0, -1)) as Fields;
  holder[path.at(-1) ?? ''] = HOLE;
  return JSON.stringify(copy).replace(`"${HOLE}"`, () => text);
}
