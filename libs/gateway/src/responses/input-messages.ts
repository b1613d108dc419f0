import { type InputItem, invalidRequest } from '@svc/contracts';
import { JsonReader } from '@svc/runtime';
import { type JsonPart, elementsOf, listPart, membersOf, objectPart, partOf } from '../json/json-part.js';
import { argumentsWith, functionName } from './offered-tools.js';
import { decodedSignatures } from './signatures.js';

/** A message, and the item that it, or the first of its parts, comes from. */
interface TranslatedMessage {
  readonly message: JsonPart;
  readonly item: number;
}

/** The message of the assistant that is being collected from several items. */
interface Turn {
  readonly item: number;
  members: (readonly [string, JsonPart])[];
  readonly calls: JsonPart[];
  hasContent: boolean;
  isSigned: boolean;
}

type Members = ReadonlyMap<string, JsonPart>;

type CallItem = Extract<InputItem, { type: 'function_call' | 'custom_tool_call' }>;

/** Translates items to messages. The assistant's reasoning, text and calls become one message. */
export class InputMessages {
  private readonly messages: TranslatedMessage[] = [];
  private turn: Turn | undefined;
  /** Media in the outputs of tools, which only the message of a user can contain. */
  private media: JsonPart[] = [];
  private item = 0;
  private readonly signatures = new JsonReader();

  /** Refuses: INVALID_REQUEST. */
  static of(items: JsonPart): readonly TranslatedMessage[] {
    const all = new InputMessages();
    for (const [index, part] of elementsOf(items).entries()) {
      all.item = index;
      all.add(part.value as InputItem, membersOf(part));
    }
    all.endTurn();
    all.endMedia();
    return all.messages;
  }

  private add(item: InputItem, members: Members): void {
    switch (item.type) {
      case 'function_call':
        return this.addCall(item, members, members.get('arguments') ?? partOf(''));
      case 'custom_tool_call':
        return this.addCall(item, members, partOf(argumentsWith(item.input)));
      case 'function_call_output':
      case 'custom_tool_call_output':
        return this.addOutput(members);
      case 'reasoning':
        return this.addReasoning(item);
      case 'web_search_call':
        return undefined;
      case 'message':
      case undefined:
      case null:
        return this.addMessage(item, members);
    }
  }

  private addMessage(item: Extract<InputItem, { role: string }>, members: Members): void {
    const content = members.get('content');
    if (item.role !== 'assistant') {
      this.endTurn();
      this.endMedia();
      this.push([
        ['role', members.get('role')],
        ['content', content && inputContent(content)],
      ]);
      return;
    }
    this.endMedia();
    const turn = this.beginTurn((open) => open.hasContent || open.calls.length > 0);
    turn.hasContent = true;
    if (!content) return;
    const parts = elementsOf(content);
    const refused = refusalIn(item);
    const texts = parts.filter((part) => textIn(part) !== '');
    if (!Array.isArray(content.value)) turn.members.push(['content', content]);
    else if (texts.length > 0) turn.members.push(['content', textContent(texts)]);
    if (refused !== '') turn.members.push(['refusal', partOf(refused)]);
  }

  private addCall({ name, namespace }: CallItem, members: Members, text: JsonPart): void {
    this.endMedia();
    const turn = this.beginTurn(() => false);
    const called = objectPart([
      ['name', partOf(functionName(name, namespace))],
      ['arguments', text],
    ]);
    turn.calls.push(
      objectPart([
        ['id', members.get('call_id')],
        ['type', partOf('function')],
        ['function', called],
        ['extra_content', members.get('extra_content')],
      ]),
    );
  }

  private addOutput(members: Members): void {
    this.endTurn();
    const output = members.get('output') ?? partOf('');
    const parts = elementsOf(output);
    const texts = parts.filter(isText);
    const media = parts.filter((part) => !isText(part)).map(contentPart);
    this.media.push(...media);
    const shown = texts.length > 0 ? textContent(texts) : partOf(media.length > 0 ? SHOWN_NEXT : '');
    this.push([
      ['role', partOf('tool')],
      ['tool_call_id', members.get('call_id')],
      ['content', Array.isArray(output.value) ? shown : output],
    ]);
  }

  private addReasoning(item: Extract<InputItem, { type: 'reasoning' }>): void {
    this.endMedia();
    const { encrypted_content: signed, content, summary } = item;
    const said = (content && content.length > 0 ? content : (summary ?? [])).map(({ text }) => text).join('');
    // Signatures without a text may follow what they belong to.
    const turn = this.beginTurn((open) => said !== '' || open.isSigned);
    if (said !== '') turn.members.push(['reasoning_content', partOf(said)]);
    if (signed === undefined || signed === null || signed === '') return;
    const signatures = decodedSignatures(signed, this.signatures);
    if (!signatures) {
      const path = ['input', this.item, 'encrypted_content'];
      const message = 'must be the encrypted_content of a response of this service';
      throw invalidRequest([{ code: 'custom', path, message }]);
    }
    turn.isSigned = true;
    for (const [name, value] of Object.entries(signatures)) turn.members.push([name, partOf(value)]);
  }

  /** The assistant's message to add to. It is a new one unless a message is open and can go on. */
  private beginTurn(endsOpen: (open: Turn) => boolean): Turn {
    if (this.turn && endsOpen(this.turn)) this.endTurn();
    this.turn ??= { item: this.item, members: [], calls: [], hasContent: false, isSigned: false };
    return this.turn;
  }

  private endTurn(): void {
    const { turn } = this;
    if (!turn) return;
    this.turn = undefined;
    const calls = turn.calls.length > 0 ? listPart(turn.calls) : undefined;
    const message = objectPart([['role', partOf('assistant')], ...turn.members, ['tool_calls', calls]]);
    this.messages.push({ message, item: turn.item });
  }

  private endMedia(): void {
    if (this.media.length === 0) return;
    const content = listPart(this.media);
    this.media = [];
    this.push([
      ['role', partOf('user')],
      ['content', content],
    ]);
  }

  private push(members: Iterable<readonly [string, JsonPart | undefined]>): void {
    this.messages.push({ message: objectPart(members), item: this.item });
  }
}

/** The content of a tool's message whose output has no text. */
const SHOWN_NEXT = 'The output follows in the next message.';

function inputContent(content: JsonPart): JsonPart {
  return Array.isArray(content.value) ? listPart(elementsOf(content).map(contentPart)) : content;
}

/** A part of a user's message in the form of chat completions. */
function contentPart(part: JsonPart): JsonPart {
  const members = membersOf(part);
  const of = (name: string): JsonPart | undefined => members.get(name);
  const { type } = part.value as { type: string };
  switch (type) {
    case 'input_image': {
      const image = objectPart([
        ['url', of('image_url')],
        ['detail', of('detail')],
      ]);
      return objectPart([
        ['type', partOf('image_url')],
        ['image_url', image],
      ]);
    }
    case 'input_file': {
      const data = of('file_data');
      const file = objectPart([
        ['file_data', data && data.value !== null ? data : of('file_url')],
        ['filename', of('filename')],
      ]);
      return objectPart([
        ['type', partOf('file')],
        ['file', file],
      ]);
    }
    case 'input_audio':
      return part;
    default:
      return textPart(part);
  }
}

/** The texts of an assistant or a tool: only one as a string, which more chat templates accept. */
function textContent(parts: readonly JsonPart[]): JsonPart {
  const [first, ...more] = parts;
  const only = first && more.length === 0 ? membersOf(first).get('text') : undefined;
  return only ?? listPart(parts.map(textPart));
}

function textPart(part: JsonPart): JsonPart {
  return objectPart([
    ['type', partOf('text')],
    ['text', membersOf(part).get('text')],
  ]);
}

const isText = ({ value }: JsonPart): boolean => (value as { type: string }).type === 'input_text';

function textIn({ value }: JsonPart): string {
  return (value as { text?: string }).text ?? '';
}

function refusalIn({ content }: Extract<InputItem, { role: 'assistant' }>): string {
  if (typeof content === 'string') return '';
  return content.map((part) => (part.type === 'refusal' ? part.refusal : '')).join('');
}
