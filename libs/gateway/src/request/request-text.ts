import { ChatRequest, NOT_INT64, invalidRequest } from '@svc/contracts';
import { z } from 'zod';
import { KnownJson } from '../json/known-json.js';
import type { MemberShape, ObjectShape, Shape } from '../json/shape.js';

/**
 * The text of a request as it may reach a backend: nothing in it that was not checked and could be taken for what was.
 * Refuses: INVALID_REQUEST, naming members whose names differ from known ones by case alone, and a
 * seed beyond 64 bits.
 */
export function checkedText(text: string, request: ChatRequest): CheckedText {
  const json = new KnownJson(text);
  const checked = json.read(CHAT_SHAPE, request);
  const issues = [...json.issues];
  const seed = json.members.get('seed');
  if (seed !== undefined && !isInt64(seed))
    issues.push({ code: 'custom', path: ['seed'], message: NOT_INT64 });
  if (issues.length > 0) throw invalidRequest(issues);
  return { text: checked, members: json.members };
}

/** Whether a JSON value that the schema took for an integer of 64 bits is one by its digits, which a double has not all of. */
function isInt64(text: string): boolean {
  if (!/^-?\d+$/.test(text)) return text === 'null' || Number(text) < 2 ** 63;
  return BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}

/** A text and the texts of its members. */
interface CheckedText {
  readonly text: string;
  readonly members: ReadonlyMap<string, string>;
}

/** Members of a backend's request that are no client's. */
const OWN_MEMBERS = ['chat_template_kwargs'];

const CHAT_SHAPE = chatShape();

function chatShape(): Shape {
  const shape = shapeOf(ChatRequest);
  const [request] = shape?.objects ?? [];
  if (!request) throw new Error('a request is an object');
  const members = new Map(request.members);
  for (const name of OWN_MEMBERS) members.set(name, { shape: undefined, nullIsNothing: false });
  // Backends know what null means for what stands at the top.
  for (const [name, member] of members) members.set(name, { ...member, nullIsNothing: false });
  return { objects: [{ ...request, members }], items: undefined };
}

/** What a schema knows of a value, so that there is one truth about names. */
function shapeOf(schema: unknown): Shape | undefined {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return shapeOf(schema.unwrap());
  if (schema instanceof z.ZodObject) return { objects: [objectShape(schema)], items: undefined };
  if (schema instanceof z.ZodArray) {
    const items = shapeOf(schema.element);
    return items && { objects: [], items };
  }
  if (!(schema instanceof z.ZodUnion)) return undefined;
  const options = schema.options.map(shapeOf).filter((shape) => shape !== undefined);
  const objects = options.flatMap((shape) => shape.objects);
  const items = options.find((shape) => shape.items)?.items;
  return objects.length > 0 || items ? { objects, items } : undefined;
}

function objectShape(schema: z.ZodObject): ObjectShape {
  const members = new Map<string, MemberShape>();
  let tag: ObjectShape['tag'];
  for (const [name, member] of Object.entries<z.core.$ZodType>(schema.shape)) {
    // Chat templates look at the content of every message.
    const nullIsNothing = name !== 'content' && takesNull(member) && takesNothing(member);
    members.set(name, { shape: shapeOf(member), nullIsNothing });
    if (name === 'type' || name === 'role') tag = tagOf(name, member) ?? tag;
  }
  return { tag, members, keepsUnknown: schema.def.catchall !== undefined };
}

function tagOf(name: string, schema: unknown): ObjectShape['tag'] {
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable) return tagOf(name, schema.unwrap());
  if (schema instanceof z.ZodLiteral) return { name, values: schema.values };
  return schema instanceof z.ZodEnum ? { name, values: new Set(schema.options) } : undefined;
}

function takesNull(schema: z.core.$ZodType): boolean {
  return z.safeParse(schema, null).success;
}

function takesNothing(schema: z.core.$ZodType): boolean {
  return z.safeParse(schema, undefined).success;
}
