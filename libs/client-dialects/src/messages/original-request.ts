import type { MessagesRequest } from '@svc/api/messages';
import type { ContentPart } from '@svc/api/chat';
import { type Fields, isFields } from '@svc/contracts/inference';
import { JsonReader, type LongStrings } from '@svc/runtime';
import {
  type JsonPart,
  elementsOf,
  jsonMembers,
  jsonObject,
  listPart,
  membersOf,
  objectPart,
  partOf,
} from '@svc/paid/json';
import type { Origin, OriginalParts, OriginalRequest } from '@svc/text/request';
import { type Path, blocksOf } from './content-translation.js';
import { isSealed, unsealed } from './reasoning-state.js';

/** The members that determine what is made and have no price of their own. */
const PASSED: ReadonlySet<string> = new Set([
  'messages',
  'system',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'stop_sequences',
  'temperature',
  'top_p',
  'top_k',
  'cache_control',
]);

/** Members that are written here, whatever the catalogue lets pass. */
const OWN: ReadonlySet<string> = new Set(['model', 'stream', 'max_tokens', 'svc_parameters', 'metadata']);

const BETA = /^[\w.-]{1,64}$/;

/** The most betas of a request. */
const MOST_BETAS = 32;

/** The ids of calls that the API accepts. */
const NO_ID = /[^a-zA-Z0-9_-]/g;

/** A request before its translation. */
export interface WrittenRequest {
  readonly request: MessagesRequest;
  /** Its text, with the placeholders of its long strings. */
  readonly text: string;
  readonly strings: LongStrings;
  /** The header `anthropic-beta`. */
  readonly betas: unknown;
}

/**
 * A message as its client wrote it, for Anthropic. Members that are not listed are left out, images are those
 * that were checked, files are their texts, and what only this service has becomes what the API knows. Blocks
 * keep their bytes otherwise.
 */
export class OriginalMessageRequest implements OriginalRequest {
  readonly kind = 'anthropic';
  readonly betas: readonly string[];
  private given: WrittenRequest | undefined;

  constructor(
    given: WrittenRequest,
    private readonly origin: Origin,
  ) {
    this.given = given;
    this.betas = betasIn(given.betas);
  }

  write(parts: OriginalParts): string | undefined {
    const { given } = this;
    return given && new Writing(given, parts, this.origin).written();
  }

  forget(): void {
    this.given = undefined;
  }
}

const betasIn = (header: unknown): string[] =>
  (typeof header === 'string' ? header : '')
    .split(',')
    .map((beta) => beta.trim())
    .filter((beta) => BETA.test(beta))
    .slice(0, MOST_BETAS);

class Writing {
  private readonly states = new JsonReader();
  /** What is in place of a block, by its path; undefined if it is removed. */
  private readonly edited: ReadonlyMap<string, JsonPart | undefined>;

  constructor(
    private readonly given: WrittenRequest,
    private readonly parts: OriginalParts,
    origin: Origin,
  ) {
    this.edited = new Map(parts.parts.map(({ path, edited }) => [origin(path).join('.'), edited]));
  }

  written(): string | undefined {
    const { request, text } = this.given;
    const { maxTokens, prompt, extraFields } = this.parts;
    const { thinking, messages: all } = request;
    // The model's limit of output leaves no room for it.
    if (thinking?.type === 'enabled' && thinking.budget_tokens >= maxTokens) return undefined;
    // Such messages are for the system prompt, of which the API has one.
    if (all.some(({ role }) => role === 'system')) return undefined;
    const given = membersOf({ value: request, text });
    const members = new Map<string, string>([['max_tokens', String(maxTokens)]]);
    for (const [name, value] of jsonMembers(text))
      if (value !== 'null' && !OWN.has(name) && (PASSED.has(name) || extraFields.includes(name)))
        members.set(name, value);
    if (prompt !== '') members.set('system', systemText(prompt, given.get('system')));
    const tools = elementsOf(given.get('tools') ?? partOf([])).map((tool) => known(tool));
    if (tools.length > 0) members.set('tools', listPart(tools).text);
    else for (const name of ['tools', 'tool_choice']) members.delete(name);
    const messages = elementsOf(given.get('messages') ?? partOf([])).flatMap((message, index) =>
      this.message(message, ['messages', index]),
    );
    members.set('messages', listPart(messages).text);
    return messages.length === 0 ? undefined : jsonObject(members);
  }

  /** Empty messages are left out, since the API refuses them. */
  private message(message: JsonPart, path: Path): JsonPart[] {
    const members = membersOf(message);
    const content = members.get('content') ?? partOf('');
    if (typeof content.value === 'string') return content.value === '' ? [] : [objectPart(members)];
    const blocks = this.blocks(content, [...path, 'content']);
    return blocks.length === 0 ? [] : [objectPart([...members, ['content', listPart(blocks)]])];
  }

  private blocks(content: JsonPart, path: Path): JsonPart[] {
    return elementsOf(content).flatMap((block, index) => this.block(known(block), [...path, index]));
  }

  private block(block: JsonPart, path: Path): JsonPart[] {
    const { type, name, source } = block.value as Fields;
    const place = path.join('.');
    switch (type) {
      case 'image':
        return this.edited.has(place) ? this.madeOf(block, this.edited.get(place)) : [block];
      case 'document': {
        const isText = isFields(source) && (source['type'] === 'text' || source['type'] === 'content');
        if (!isText && this.edited.has(place)) return this.madeOf(block, this.edited.get(place));
        const inner = membersOf(block).get('source');
        return [inner ? changed(block, 'source', this.container(inner, [...path, 'source'])) : block];
      }
      case 'tool_result':
        return [withId(this.container(block, path), 'tool_use_id')];
      case 'tool_use':
        return [withId(block, 'id')];
      case 'thinking':
        return this.reasoning(block, 'signature');
      case 'redacted_thinking':
        return this.reasoning(block, 'data');
      // The search of this service, which Anthropic does not know.
      case 'server_tool_use':
        return name === 'web_search' ? [] : [block];
      case 'web_search_tool_result':
        return [];
      default:
        return [block];
    }
  }

  /** A block, or a source, whose content may be blocks. */
  private container(block: JsonPart, path: Path): JsonPart {
    const content = membersOf(block).get('content');
    if (!content || !Array.isArray(content.value)) return block;
    return changed(block, 'content', listPart(this.blocks(content, [...path, 'content'])));
  }

  /** What this service has made of an image or a file. */
  private madeOf(block: JsonPart, edited: JsonPart | undefined): JsonPart[] {
    if (!edited) return [];
    const members = membersOf(block);
    const cache = ['cache_control', members.get('cache_control')] as const;
    const part = edited.value as ContentPart;
    if (part.type === 'image_url') {
      const { type, base64 } = imageIn(part.image_url.url);
      const data = this.given.strings.keep([Buffer.from(base64, 'latin1')]);
      const source = partOf({ type: 'base64', media_type: type, data });
      return [objectPart([['type', partOf('image')], ['source', source], cache])];
    }
    const context = members.get('context');
    const text = membersOf(edited).get('text');
    return [
      ...(typeof context?.value === 'string' && context.value !== '' ? [textBlock(context)] : []),
      objectPart([['type', partOf('text')], ['text', text], cache]),
    ];
  }

  /** Reasoning that Anthropic has signed, whether it went through this service as it is or translated. */
  private reasoning(block: JsonPart, seal: 'signature' | 'data'): JsonPart[] {
    const sealed = String((block.value as Fields)[seal]);
    if (sealed === '') return [];
    if (!isSealed(sealed)) return [block];
    return unsealed(sealed, this.states).details.flatMap(({ format, type, text, signature, data }) => {
      if (format !== 'anthropic-claude-v1') return [];
      if (type === 'reasoning.encrypted') return [partOf({ type: 'redacted_thinking', data })];
      return [partOf({ type: 'thinking', thinking: text ?? '', signature })];
    });
  }
}

/** A part whose members have one name each: that with the value that was checked. */
function known({ value, text }: JsonPart): JsonPart {
  return { value, text: jsonObject(jsonMembers(text)) };
}

/** A part with another member; those that no schema knows stay. */
function changed({ value, text }: JsonPart, name: string, member: JsonPart): JsonPart {
  return { value, text: jsonObject(jsonMembers(text).set(name, member.text)) };
}

function withId(block: JsonPart, name: 'id' | 'tool_use_id'): JsonPart {
  const id = String((block.value as Fields)[name]);
  const clean = id.replaceAll(NO_ID, '_');
  return id === clean ? block : changed(block, name, partOf(clean));
}

const textBlock = (text: JsonPart): JsonPart =>
  objectPart([
    ['type', partOf('text')],
    ['text', text],
  ]);

/** This service's own prompt is before that of the client. */
function systemText(prompt: string, system: JsonPart | undefined): string {
  const own = partOf({ type: 'text', text: prompt });
  return listPart([own, ...(system ? blocksOf(system, []).map(({ part }) => part) : [])]).text;
}

/** The type and the base64 of an image that this service has made: a data URL. */
function imageIn(url: string): { readonly type: string; readonly base64: string } {
  const begin = url.indexOf(',') + 1;
  return { type: url.slice('data:'.length, url.indexOf(';')), base64: url.slice(begin) };
}
