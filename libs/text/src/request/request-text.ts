import { ChatRequest, NOT_INT64 } from '@svc/api/chat';
import { type Issue, invalidRequest } from '@svc/contracts/problems';
import type { JsonText, LongStrings } from '@svc/runtime';
import { z } from 'zod';
import { type JsonPart, KnownJson, type MemberShape, type ObjectShape, type Shape } from '@svc/paid/json';

/** The changes to a prompt, for a request that goes to a backend as its client wrote it. */
export interface PromptEdits {
  /** A system prompt before the client's own; may be empty. */
  readonly prompt: string;
  /** The parts that were replaced, or removed, with their places in the chat. */
  readonly parts: readonly EditedPlace[];
}

interface EditedPlace {
  readonly path: Issue['path'];
  /** Undefined if it is removed. */
  readonly edited: JsonPart | undefined;
}

/**
 * The text of a chat completion request that may reach a backend, as its members. It is kept only until the
 * last call to a backend is made of it, because prompts take most of the memory of open streams.
 */
export class RequestText {
  /** What was changed before the messages go to a backend. */
  edits: PromptEdits | undefined;

  private constructor(
    private readonly json: JsonText,
    private readonly known: Map<string, string>,
    /** The length in bytes of the client's text, without what no backend gets. */
    readonly byteLength: number,
  ) {}

  /**
   * Replaces a text by what of it may reach a backend: it contains nothing unchecked that a backend could
   * mistake for checked content. Refuses: INVALID_REQUEST, naming members that differ from known ones only by
   * case, and a seed beyond 64 bits.
   */
  static checked(json: JsonText, request: ChatRequest): RequestText {
    if (json.isPlain && json.strings.isEmpty) return RequestText.plain(json, request);
    const known = new KnownJson(json.text);
    const text = known.read(CHAT_SHAPE, request);
    const issues = [...known.issues];
    const seed = known.members.get('seed');
    if (seed !== undefined && !isInt64(seed))
      issues.push({ code: 'custom', path: ['seed'], message: NOT_INT64 });
    if (issues.length > 0) throw invalidRequest(issues);
    json.replace(text);
    return new RequestText(json, known.members, json.strings.byteLength(text));
  }

  /** All members of a plain chat are known. Writing them again is cheaper than checking their text. */
  private static plain(json: JsonText, request: ChatRequest): RequestText {
    const known = new Map<string, string>();
    // With the braces; each member has two quotes, a colon, and a comma or the last brace.
    let byteLength = 1;
    for (const name of Object.keys(request)) {
      const text = JSON.stringify(request[name]);
      known.set(name, text);
      byteLength += name.length + Buffer.byteLength(text) + 4;
    }
    return new RequestText(json, known, byteLength);
  }

  get strings(): LongStrings {
    return this.json.strings;
  }

  /** The members, each as its text. */
  get members(): ReadonlyMap<string, string> {
    return this.known;
  }

  /** The text of the messages. */
  get messages(): string {
    return this.known.get('messages') ?? '[]';
  }

  /** Replaces the messages for the backend; their long strings must be among `strings`. */
  set messages(text: string) {
    this.known.set('messages', text);
  }

  /** Frees the memory. From then on no backend can be called. */
  forget(): void {
    this.json.forget();
    this.known.clear();
    this.edits = undefined;
  }
}

/**
 * Checks by its digits that a number is a 64-bit integer: the schema checked only a double, which is not
 * exact.
 */
function isInt64(text: string): boolean {
  if (!/^-?\d+$/.test(text)) return text === 'null' || Number(text) < 2 ** 63;
  return BigInt.asIntN(64, BigInt(text)) === BigInt(text);
}

/** Members that backends know and the schema of clients does not. */
const OWN_MEMBERS = ['chat_template_kwargs'];

const CHAT_SHAPE = chatShape();

function chatShape(): Shape {
  const shape = shapeOf(ChatRequest);
  const [request] = shape?.objects ?? [];
  if (!request) throw new Error('a request is an object');
  const members = new Map(request.members);
  for (const name of OWN_MEMBERS) members.set(name, { shape: undefined, nullIsNothing: false });
  // At the top level a backend may distinguish null from a missing member.
  for (const [name, member] of members) members.set(name, { ...member, nullIsNothing: false });
  return { objects: [{ ...request, members }], items: undefined };
}

/** Derives the shape from the schema, so that names are defined in one place. */
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
    // Chat templates read the content of every message.
    const nullIsNothing = name !== 'content' && takesNull(member) && takesNothing(member);
    // Clients keep `tool_calls: []` of responses without calls in their history, which many servers refuse.
    members.set(name, { shape: shapeOf(member), nullIsNothing, emptyIsNothing: name === 'tool_calls' });
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
