import type { AssistantBlock, MessageParam, UserBlock } from '@svc/api/messages';
import { JsonReader, type LongStrings } from '@svc/runtime';
import { type JsonPart, listPart, membersOf, objectPart, partOf, prefixedPart } from '@svc/paid/json';
import {
  ContentTranslation,
  type Path,
  type PlacedBlock,
  type PlacedContent,
  type PlacedPart,
  blocksOf,
  cacheOf,
  contentOf,
} from './content-translation.js';
import { textPart } from '@svc/text/request';
import { joinedStates, unsealed } from './reasoning-state.js';

/** Where a chat message and its parts were in the client's request. */
export interface MessageOrigin {
  readonly path: Path;
  readonly paths: readonly Path[];
}

type ToolResult = Extract<UserBlock, { type: 'tool_result' }>;

/** The text of a tool's result that has only images or files, which a tool message cannot have. */
const SHOWN_NEXT = 'The result is in the next message.';

/** Builds the messages of a chat completion from those of a message request. */
export class Conversation {
  private readonly messages: JsonPart[] = [];
  /** Of each message. */
  readonly origins: MessageOrigin[] = [];
  private readonly translation: ContentTranslation;
  private readonly states = new JsonReader();

  constructor(strings: LongStrings) {
    this.translation = new ContentTranslation(strings);
  }

  get list(): JsonPart {
    return listPart(this.messages);
  }

  async addSystem(content: JsonPart, path: Path): Promise<void> {
    const parts = await this.textParts(blocksOf<Extract<UserBlock, { type: 'text' }>>(content, path));
    if (parts.length > 0) this.add('system', contentOf(parts), path);
  }

  async addMessage(message: JsonPart, path: Path): Promise<void> {
    const { role } = message.value as MessageParam;
    const content = membersOf(message).get('content') ?? partOf('');
    const at = [...path, 'content'];
    switch (role) {
      case 'system':
        return this.addSystem(content, at);
      case 'user':
        return this.addUser(blocksOf<UserBlock>(content, at), path);
      case 'assistant':
        return this.addAssistant(blocksOf<AssistantBlock>(content, at), path);
    }
  }

  private async addUser(blocks: readonly PlacedBlock<UserBlock>[], path: Path): Promise<void> {
    const parts: PlacedPart[] = [];
    const others: PlacedPart[] = [];
    for (const block of blocks) {
      if (isResult(block)) parts.push(...(await this.addResult(block)));
      else if (isOther(block)) others.push(...(await this.translation.parts(block)));
    }
    parts.push(...others);
    const isOnlyResults = blocks.some(isResult) && parts.length === 0;
    if (!isOnlyResults)
      this.add('user', parts.length === 0 ? { content: partOf(''), paths: [] } : contentOf(parts), path);
  }

  /** Adds the texts of a tool's result. Returns its other parts. */
  private async addResult({ value, part, path }: PlacedBlock<ToolResult>): Promise<PlacedPart[]> {
    const members = membersOf(part);
    const content = members.get('content');
    const blocks = content ? blocksOf<Exclude<UserBlock, ToolResult>>(content, [...path, 'content']) : [];
    const all = (await Promise.all(blocks.map((block) => this.translation.parts(block)))).flat();
    const texts = all.filter((each) => membersOf(each.part).has('text'));
    const others = all.filter((each) => !texts.includes(each));
    if (texts.length === 0) texts.push({ part: textPart(partOf(others.length > 0 ? SHOWN_NEXT : '')), path });
    const [first] = texts;
    // Chat completions cannot say otherwise that a tool has failed.
    if (value.is_error === true && first) texts[0] = { ...first, part: withPrefix('Error: ', first.part) };
    const last = texts.at(-1);
    const cache = cacheOf(members);
    if (cache && last && !isEmpty(last))
      texts[texts.length - 1] = { ...last, part: withCache(cache, last.part) };
    const { content: result, paths } = contentOf(texts);
    this.push({ path, paths }, [
      ['role', partOf('tool')],
      ['tool_call_id', members.get('tool_use_id')],
      ['content', result],
    ]);
    return others;
  }

  private async addAssistant(blocks: readonly PlacedBlock<AssistantBlock>[], path: Path): Promise<void> {
    const texts: PlacedPart[] = [];
    const thoughts: JsonPart[] = [];
    const seals: string[] = [];
    const calls: PlacedBlock<Extract<AssistantBlock, { type: 'tool_use' }>>[] = [];
    for (const block of blocks) {
      const { value, part } = block;
      if (isOfServer(value)) continue;
      switch (value.type) {
        case 'text':
          texts.push(...(await this.textParts([{ ...block, value }])));
          break;
        case 'thinking': {
          const thought = membersOf(part).get('thinking');
          if (thought && value.thinking !== '') thoughts.push(thought);
          seals.push(value.signature);
          break;
        }
        case 'redacted_thinking':
          seals.push(value.data);
          break;
        case 'tool_use':
          calls.push({ ...block, value });
          break;
      }
    }
    const state = joinedStates(seals.map((seal) => unsealed(seal, this.states)));
    const { content, paths } = texts.length === 0 ? { content: partOf(null), paths: [] } : contentOf(texts);
    const toolCalls = await Promise.all(calls.map((call) => this.toolCall(call, state.callExtras)));
    this.push({ path, paths }, [
      ['role', partOf('assistant')],
      ['content', content],
      ['reasoning_content', await this.joined(thoughts)],
      ['reasoning_details', state.details.length > 0 ? partOf(state.details) : undefined],
      [
        'thought_signature',
        state.thoughtSignature === undefined ? undefined : partOf(state.thoughtSignature),
      ],
      ['tool_calls', toolCalls.length > 0 ? listPart(toolCalls) : undefined],
    ]);
  }

  private async toolCall(
    { value, part }: PlacedBlock<Extract<AssistantBlock, { type: 'tool_use' }>>,
    extras: ReadonlyMap<string, unknown>,
  ): Promise<JsonPart> {
    const members = membersOf(part);
    const extra = extras.get(value.id);
    return objectPart([
      ['id', members.get('id')],
      ['type', partOf('function')],
      [
        'function',
        objectPart([
          ['name', members.get('name')],
          ['arguments', await this.translation.asText(members.get('input') ?? partOf({}))],
        ]),
      ],
      ['extra_content', extra === undefined ? undefined : partOf(extra)],
    ]);
  }

  private async textParts(
    blocks: readonly PlacedBlock<Extract<UserBlock, { type: 'text' }>>[],
  ): Promise<PlacedPart[]> {
    return (await Promise.all(blocks.map((block) => this.translation.parts(block)))).flat();
  }

  private async joined(texts: readonly JsonPart[]): Promise<JsonPart | undefined> {
    const [first] = texts;
    if (texts.length < 2) return first;
    return this.translation.written(texts.map(({ value }) => String(value)).join('\n'));
  }

  private add(role: string, { content, paths }: PlacedContent, path: Path): void {
    this.push({ path, paths }, [
      ['role', partOf(role)],
      ['content', content],
    ]);
  }

  private push(origin: MessageOrigin, members: readonly (readonly [string, JsonPart | undefined])[]): void {
    this.messages.push(objectPart(members));
    this.origins.push(origin);
  }
}

function isResult(block: PlacedBlock<UserBlock>): block is PlacedBlock<ToolResult> {
  return block.value.type === 'tool_result';
}

function isOther(block: PlacedBlock<UserBlock>): block is PlacedBlock<Exclude<UserBlock, ToolResult>> {
  return !isResult(block);
}

type ModelBlock = Extract<AssistantBlock, { type: 'text' | 'thinking' | 'redacted_thinking' | 'tool_use' }>;

const MODEL_BLOCKS: ReadonlySet<string> = new Set<ModelBlock['type']>([
  'text',
  'thinking',
  'redacted_thinking',
  'tool_use',
]);

/** Whether a block is of a tool of a service or a provider, which other models do not need. */
function isOfServer(block: AssistantBlock): block is Exclude<AssistantBlock, ModelBlock> {
  return !MODEL_BLOCKS.has(block.type);
}

/** A part of a chat message must not be empty; only a text as a whole may. */
const isEmpty = ({ part }: PlacedPart): boolean => membersOf(part).get('text')?.value === '';

function withCache(cache: JsonPart, part: JsonPart): JsonPart {
  return objectPart([['cache_control', cache], ...membersOf(part)]);
}

function withPrefix(prefix: string, part: JsonPart): JsonPart {
  const members = membersOf(part);
  const text = members.get('text');
  return objectPart([...members, ['text', text && prefixedPart(prefix, text)]]);
}
