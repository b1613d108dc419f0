import { FILE_LIMIT_BYTES, type FormFile } from '@svc/api/route';
import { Problem, invalidRequest } from '@svc/contracts/problems';
import { type FormPart, readParts } from './form-parts.js';
import type { FieldShape, FormShape } from './form-shape.js';

/** The most bytes of a text: 32,768 characters take at most 98,304. */
const TEXT_BYTES = 131_072;

type FormValue = string | number | boolean | FormFile | readonly FormValue[] | Form;

export interface Form {
  readonly [name: string]: FormValue;
}

/** While a form is read: members of objects, and lists, grow. */
type Collected = Map<string, FormValue | FormValue[] | Map<string, FormValue>>;

const NEITHER: FieldShape = { mayBeFile: false, types: new Set() };

/**
 * The members of a form (RFC 7578) as the shape says: numbers and booleans converted, and repeated members as
 * lists, written `name`, `name[]` or `name[0]`. A member of an object is written `name[key]`. The first of
 * several single members with one name counts. Unknown texts are kept, as a list if they are repeated.
 * Rejects with INVALID_REQUEST, also for an unknown file, and PAYLOAD_TOO_LARGE for a file that is too large.
 */
export async function readForm(bytes: Buffer, contentType: string, shape: FormShape): Promise<Form> {
  const form: Collected = new Map();
  for (const part of await readParts(bytes, contentType)) add(form, part, shape);
  const members = [...form].map(([name, value]) => [
    name,
    value instanceof Map ? Object.fromEntries(value) : value,
  ]);
  return Object.fromEntries(members) as Form;
}

function add(form: Collected, part: FormPart, shape: FormShape): void {
  const [, base = part.name, key] = /^([^[\]]+)\[([^[\]]*)\]$/.exec(part.name) ?? [];
  const field = Object.hasOwn(shape, base) ? shape[base] : undefined;
  if (field?.element && (key === undefined || /^\d*$/.test(key))) {
    const list = form.get(base);
    const value = valueOf(part, field.element);
    if (Array.isArray(list)) list.push(value);
    else form.set(base, [value]);
  } else if (field?.members && key) addMember(form, part, { base, key, members: field.members });
  else if (field && key === undefined) {
    const value = valueOf(part, field);
    if (!form.has(base)) form.set(base, value);
  } else addUnknown(form, part);
}

/** A member of an object; of an object that is also given as a text, the first counts. */
function addMember(
  form: Collected,
  part: FormPart,
  { base, key, members }: { readonly base: string; readonly key: string; readonly members: FormShape },
): void {
  const value = valueOf(part, (Object.hasOwn(members, key) && members[key]) || NEITHER);
  const object = form.get(base);
  if (object === undefined) form.set(base, new Map([[key, value]]));
  else if (object instanceof Map && !object.has(key)) object.set(key, value);
}

function addUnknown(form: Collected, part: FormPart): void {
  const value = valueOf(part, NEITHER);
  const earlier = form.get(part.name);
  if (earlier === undefined) form.set(part.name, value);
  else if (Array.isArray(earlier)) earlier.push(value);
  else form.set(part.name, [earlier as FormValue, value]);
}

/** The value of a part. An unknown file is refused; a known text sent as a file is refused by its schema. */
function valueOf({ name, content, file }: FormPart, { mayBeFile, types }: FieldShape): FormValue {
  if (file) {
    if (!mayBeFile) throw refusal(name, 'custom', 'must not be a file');
    if (content.length <= FILE_LIMIT_BYTES) return { ...file, bytes: content };
    const message = `${name}: the file is over ${FILE_LIMIT_BYTES.toLocaleString('en')} bytes`;
    throw new Problem('PAYLOAD_TOO_LARGE', { message, param: name });
  }
  // A member that may be a file may also be its base64.
  if (content.length > TEXT_BYTES && !mayBeFile)
    throw refusal(name, 'too_big', `must have at most ${TEXT_BYTES.toLocaleString('en')} bytes`);
  const text = content.toString('utf8');
  if (types.has('number') && NUMBER.test(text)) return Number(text);
  if (types.has('boolean') && BOOLEAN.test(text)) return text.toLowerCase() === 'true';
  return text;
}

const NUMBER = /^-?\d{1,20}(\.\d{1,20})?(e[+-]?\d{1,3})?$/i;
const BOOLEAN = /^(true|false)$/i;

const refusal = (name: string, code: string, message: string): Problem =>
  invalidRequest([{ code, path: [name], message }]);
