import { type Fields, fieldsOf } from '@svc/contracts/inference';
import type { InputItem } from '@svc/api/responses';
import { invalidRequest } from '@svc/contracts/problems';
import { JsonReader } from '@svc/runtime';
import { type JsonPart, elementsOf, listPart, membersOf, objectPart, partOf } from '@svc/paid/json';
import { joinedContents, textPart } from '@svc/text/request';
import { type AnsweredCalls, answeredCalls, isCall, isOutput } from './answered-calls.js';
import { argumentsWith, functionName } from './offered-tools.js';
import { decodedSignatures } from './signatures.js';

/** A message, and the item that it, or the first of its parts, comes from. */
interface TranslatedMessage {
  readonly message: JsonPart;
  readonly item: number;
}

/** The call of a turn, and the item with its output, if any. */
interface TurnCall {
  readonly call: JsonPart;
  readonly item: number;
  readonly output: number | undefined;
}

/** The message of the assistant that is being collected from several items. */
interface Turn {
  readonly item: number;
  readonly thoughts: JsonPart[];
  readonly contents: JsonPart[];
  readonly refusals: JsonPart[];
  readonly signatures: Fields[];
  readonly calls: Map<string, TurnCall>;
  /** The last item with an output of its calls. */
  lastOutput: number;
  /** Messages of the client that arrived before all outputs. */
  readonly rest: (() => void)[];
}

type Members = ReadonlyMap<string, JsonPart>;

type CallItem = Extract<InputItem, { type: 'function_call' | 'custom_tool_call' }>;

/**
 * Translates items to messages in the order that strict servers require: everything that the model said in
 * one turn is one message, the outputs of its calls follow directly, one for each, and the rest comes after
 * them. The model's turn lasts until the client says something, but not before all outputs that its calls
 * will get.
 */
export class InputMessages {
  private readonly messages: TranslatedMessage[] = [];
  private turn: Turn | undefined;
  /** Media in the outputs of tools, which only the message of a user can contain. */
  private media: JsonPart[] = [];
  private item = 0;
  private readonly signatures = new JsonReader();
  private readonly answered: AnsweredCalls;
  private readonly parts: readonly JsonPart[];

  private constructor(items: JsonPart) {
    this.parts = elementsOf(items);
    this.answered = answeredCalls(items.value as readonly InputItem[]);
  }

  /** Refuses: INVALID_REQUEST. */
  static of(items: JsonPart): readonly TranslatedMessage[] {
    const all = new InputMessages(items);
    for (const [index, part] of all.parts.entries()) {
      all.item = index;
      if (!all.answered.repeated.has(index)) all.add(part.value as InputItem, membersOf(part));
    }
    all.endTurn();
    all.endMedia();
    return all.messages;
  }

  private add(item: InputItem, members: Members): void {
    if (isCall(item)) return this.addCall(item, members);
    if (isOutput(item)) return this.addOutput(item.call_id);
    switch (item.type) {
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
    const content = members.get('content') ?? partOf('');
    if (item.role === 'assistant') {
      const turn = this.openTurn();
      const refused = refusalIn(item);
      const texts = elementsOf(content).filter((part) => textIn(part) !== '');
      if (!Array.isArray(content.value)) turn.contents.push(content);
      else if (texts.length > 0) turn.contents.push(textContent(texts));
      if (refused !== '') turn.refusals.push(partOf(refused));
      return;
    }
    const [at, role] = [this.item, item.role];
    const push = (): void => this.addInput(role, inputContent(content), at);
    if (this.turn && at < this.turn.lastOutput) {
      this.turn.rest.push(push);
      return;
    }
    this.endTurn();
    push();
  }

  private addCall(item: CallItem, members: Members): void {
    const text =
      item.type === 'function_call'
        ? (members.get('arguments') ?? partOf(''))
        : partOf(argumentsWith(item.input));
    const called = objectPart([
      ['name', partOf(functionName(item.name, item.namespace))],
      ['arguments', text],
    ]);
    this.keepCall(item.call_id, called, members.get('extra_content'));
  }

  /** Outputs are written with their calls. One without a call gets one, since it cannot be sent without. */
  private addOutput(id: string): void {
    if (this.answered.withoutCall.has(this.item))
      this.keepCall(id, partOf({ name: UNKNOWN_TOOL, arguments: '{}' }));
  }

  private keepCall(id: string, called: JsonPart, extra?: JsonPart): void {
    const { item } = this;
    const output = this.answered.withoutCall.has(item) ? item : this.answered.outputs.get(item);
    const turn = this.openTurn();
    const call = objectPart([
      ['id', partOf(id)],
      ['type', partOf('function')],
      ['function', called],
      ['extra_content', extra],
    ]);
    turn.calls.set(id, { call, item, output });
    turn.lastOutput = Math.max(turn.lastOutput, output ?? -1);
  }

  private addReasoning(item: Extract<InputItem, { type: 'reasoning' }>): void {
    const turn = this.openTurn();
    const { encrypted_content: signed, content, summary } = item;
    const thought = (content && content.length > 0 ? content : (summary ?? []))
      .map(({ text }) => text)
      .join('');
    if (thought !== '') turn.thoughts.push(partOf(thought));
    if (signed === undefined || signed === null || signed === '') return;
    const signatures = decodedSignatures(signed, this.signatures);
    if (!signatures) {
      const path = ['input', this.item, 'encrypted_content'];
      const message = 'must be the encrypted_content of a response of this service';
      throw invalidRequest([{ code: 'custom', path, message }]);
    }
    turn.signatures.push(signatures);
  }

  /** The turn that the model's item belongs to. Once all outputs are there, it is the next one. */
  private openTurn(): Turn {
    const { turn, item } = this;
    if (turn && turn.lastOutput !== -1 && turn.lastOutput < item) this.endTurn();
    this.endMedia();
    this.turn ??= {
      item,
      thoughts: [],
      contents: [],
      refusals: [],
      signatures: [],
      calls: new Map(),
      lastOutput: -1,
      rest: [],
    };
    return this.turn;
  }

  private endTurn(): void {
    const { turn } = this;
    if (!turn) return;
    this.turn = undefined;
    const { thoughts, contents, refusals, signatures } = turn;
    const calls = [...turn.calls.values()];
    const details = signatures.flatMap((each) => fieldsOf(each['reasoning_details']));
    const [signature] = signatures.flatMap((each) => each['thought_signature'] ?? []).slice(-1);
    this.push(turn.item, [
      ['role', partOf('assistant')],
      ['reasoning_content', thoughts.length > 0 ? joinedContents(thoughts) : undefined],
      ['content', contents.length > 0 ? joinedContents(contents) : undefined],
      ['refusal', refusals.length > 0 ? joinedContents(refusals) : undefined],
      ['reasoning_details', details.length > 0 ? partOf(details) : undefined],
      ['thought_signature', signature === undefined ? undefined : partOf(signature)],
      ['tool_calls', calls.length > 0 ? listPart(calls.map(({ call }) => call)) : undefined],
    ]);
    for (const call of calls) this.pushResult(call);
    for (const push of turn.rest) push();
  }

  private pushResult({ call, item, output: position }: TurnCall): void {
    const members = membersOf(this.parts[position ?? -1] ?? partOf({}));
    const output = members.get('output') ?? partOf(NO_OUTPUT);
    const parts = elementsOf(output);
    const texts = parts.filter(isText);
    const media = parts.filter((part) => !isText(part)).map(contentPart);
    this.media.push(...media);
    const shown = texts.length > 0 ? textContent(texts) : partOf(media.length > 0 ? SHOWN_NEXT : '');
    this.push(position ?? item, [
      ['role', partOf('tool')],
      ['tool_call_id', membersOf(call).get('id')],
      ['content', Array.isArray(output.value) ? shown : output],
    ]);
  }

  /** A message of the client. That of a user takes up the media before it, since roles should alternate. */
  private addInput(role: string, content: JsonPart, item: number): void {
    const { media } = this;
    if (role === 'user') this.media = [];
    else this.endMedia();
    const isShown = role === 'user' && media.length > 0;
    this.push(item, [
      ['role', partOf(role)],
      ['content', isShown ? joinedContents([listPart(media), content]) : content],
    ]);
  }

  private endMedia(): void {
    if (this.media.length === 0) return;
    const content = listPart(this.media);
    this.media = [];
    this.push(this.item, [
      ['role', partOf('user')],
      ['content', content],
    ]);
  }

  private push(item: number, members: Iterable<readonly [string, JsonPart | undefined]>): void {
    this.messages.push({ message: objectPart(members), item });
  }
}

/** The tool of an output whose call the client did not send. */
const UNKNOWN_TOOL = 'unknown_tool';

/** The result of a call whose output the client did not send. */
const NO_OUTPUT = 'The call has no output.';

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
      return plainPart(part);
  }
}

/** The texts of an assistant or a tool: only one as a string, which more chat templates accept. */
function textContent(parts: readonly JsonPart[]): JsonPart {
  const [first, ...more] = parts;
  const only = first && more.length === 0 ? membersOf(first).get('text') : undefined;
  return only ?? listPart(parts.map(plainPart));
}

const plainPart = (part: JsonPart): JsonPart => textPart(membersOf(part).get('text'));

const isText = ({ value }: JsonPart): boolean => (value as { type: string }).type === 'input_text';

function textIn({ value }: JsonPart): string {
  return (value as { text?: string }).text ?? '';
}

function refusalIn({ content }: Extract<InputItem, { role: 'assistant' }>): string {
  if (typeof content === 'string') return '';
  return content.map((part) => (part.type === 'refusal' ? part.refusal : '')).join('');
}
