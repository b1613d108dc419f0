import type { Fields } from '@svc/contracts/inference';
import { jsonElements, jsonMembers, jsonObject } from '@svc/paid/json';
import { jsonOrUndefined } from '@svc/runtime';
import { type ChargedOutput, type CompletionHead, costView, echoOf } from '@svc/text/output';
import { inputOf, stopOf, usageCounts } from './message-head.js';

type Members = Map<string, string>;

/** Names of events that are passed on. */
const NAME = /^[a-z_]{1,64}$/i;

/** What this service says of a message, in place of what its provider says. */
export interface OwnMembers {
  readonly id: string;
  readonly model: string;
}

/** The counts that were charged, and what this service adds to the end of a message. */
export interface OwnEnd {
  readonly usage: Fields;
  /** The end if the provider has sent none. */
  readonly stop: Fields;
  readonly more: Fields;
}

/** The end of a message that has been charged. */
export function ownEnd(
  { usage, cost, hasOutput }: Pick<ChargedOutput, 'usage' | 'cost' | 'hasOutput'>,
  about: CompletionHead,
): OwnEnd {
  return {
    usage: usageCounts(usage, 0),
    stop: stopOf('length', undefined),
    more: { cost: costView(cost), svc_parameters: echoOf(about, hasOutput, []) },
  };
}

const written = (members: Fields): [string, string][] =>
  Object.entries(members).map(([name, value]) => [name, JSON.stringify(value)]);

const ownMembers = ({ id, model }: OwnMembers): [string, string][] => written({ id, model });

/** The provider's usage with the counts that were charged. */
function usageText(given: string | undefined, { usage }: OwnEnd): string {
  const members = new Map(written(usage));
  for (const [name, value] of jsonMembers(given ?? '{}')) {
    const isOwn = typeof usage[name] === 'number';
    if (!isOwn && value !== 'null') members.set(name, value);
  }
  return jsonObject(members);
}

/** The end of a message: the provider's, or the one of this service if that has ended the response. */
function stopMembers(given: ReadonlyMap<string, string>, { stop }: OwnEnd): [string, string][] {
  const isEnded = (given.get('stop_reason') ?? 'null') !== 'null';
  return isEnded ? written(stop).filter(([name]) => !given.has(name)) : written(stop);
}

const typeOf = (members: ReadonlyMap<string, string>): string => textIn(members.get('type'));

/** An event as a provider wrote it. */
const frame = (name: string, text: string): string =>
  `event: ${name}\ndata: ${text.replaceAll(/\r\n|\r|\n/g, '\ndata: ')}\n\n`;

/** The events of a provider's message, passed on as they are. */
export class OriginalEvents {
  private last: Members | undefined;
  /** The numbers of the blocks that have not ended. */
  private readonly open = new Set<string>();
  isBegun = false;

  constructor(private readonly own: OwnMembers) {}

  /** What its client gets of an event. Events whose names are none are left out. */
  frameOf(text: string): string {
    const members = jsonMembers(text);
    const type = typeOf(members);
    const index = members.get('index') ?? '';
    switch (type) {
      case 'message_start': {
        this.isBegun = true;
        const message = new Map([...jsonMembers(members.get('message') ?? '{}'), ...ownMembers(this.own)]);
        return frame(type, jsonObject(members.set('message', jsonObject(message))));
      }
      case 'message_delta': {
        const before = this.last;
        this.last = members;
        return before ? frame(type, jsonObject(before)) : '';
      }
      case 'message_stop':
        return '';
      case 'content_block_start':
        this.open.add(index);
        break;
      case 'content_block_stop':
        this.open.delete(index);
        break;
    }
    return NAME.test(type) ? frame(type, text) : '';
  }

  /** The end of the message, with the end of blocks that have none. */
  end(end: OwnEnd): string {
    const stops = [...this.open].map((index) =>
      frame('content_block_stop', `{"type":"content_block_stop","index":${index}}`),
    );
    const last = this.last ?? new Map([['type', '"message_delta"']]);
    const delta = jsonMembers(last.get('delta') ?? '{}');
    const ended = new Map([
      ...last,
      ['delta', jsonObject(new Map([...delta, ...stopMembers(delta, end)]))],
      ['usage', usageText(last.get('usage'), end)],
      ...written(end.more),
    ]);
    const over = frame('message_stop', '{"type":"message_stop"}');
    return `${stops.join('')}${frame('message_delta', jsonObject(ended))}${over}`;
  }
}

/** A block of which the parts arrive one by one. */
interface OpenBlock {
  readonly members: Members;
  /** The texts of its members so far, by name. */
  readonly texts: Map<string, string[]>;
}

/** A provider's message as one document, from one or from its events. */
export class OriginalMessage {
  private members: Members = new Map();
  private readonly blocks = new Map<string, OpenBlock>();

  add(text: string): void {
    const members = jsonMembers(text);
    const index = members.get('index') ?? '';
    switch (typeOf(members)) {
      case 'message':
        this.members = members;
        break;
      case 'message_start':
        this.members = jsonMembers(members.get('message') ?? '{}');
        break;
      case 'content_block_start': {
        const block = jsonMembers(members.get('content_block') ?? '{}');
        this.blocks.set(index, { members: block, texts: new Map() });
        break;
      }
      case 'content_block_delta': {
        const block = this.blocks.get(index);
        if (block) extend(block, jsonMembers(members.get('delta') ?? '{}'));
        break;
      }
      case 'message_delta': {
        const usage = [
          ...jsonMembers(this.members.get('usage') ?? '{}'),
          ...jsonMembers(members.get('usage') ?? '{}'),
        ];
        for (const [name, value] of jsonMembers(members.get('delta') ?? '{}')) this.members.set(name, value);
        this.members.set('usage', jsonObject(new Map(usage)));
        break;
      }
    }
  }

  /** The text of the message. */
  whole(own: OwnMembers, end: OwnEnd): string {
    const { members, blocks } = this;
    const made = [...blocks.values()].map((block) => joined(block));
    const content = blocks.size > 0 ? `[${made.join(',')}]` : (members.get('content') ?? '[]');
    const whole = new Map([
      ['type', '"message"'],
      ['role', '"assistant"'],
      ...members,
      ...ownMembers(own),
      ['content', content],
      ...stopMembers(members, end),
      ['usage', usageText(members.get('usage'), end)],
      ...written(end.more),
    ]);
    return jsonObject(whole);
  }
}

/** Adds what a delta says: a part of a text, a citation, or another value of a member. */
function extend({ members, texts }: OpenBlock, delta: Members): void {
  const type = typeOf(delta);
  for (const [name, value] of delta) {
    if (name === 'type') continue;
    if (type === 'citations_delta' && name === 'citation') {
      const known = members.get('citations') ?? '[]';
      members.set('citations', `[${[...(known === 'null' ? [] : jsonElements(known)), value].join(',')}]`);
      continue;
    }
    const part = jsonOrUndefined(value);
    if (typeof part !== 'string') members.set(name, value);
    else texts.set(name, [...(texts.get(name) ?? []), part]);
  }
}

/** The text that a member has; empty if it has none. */
function textIn(member: string | undefined): string {
  const value = jsonOrUndefined(member ?? '""');
  return typeof value === 'string' ? value : '';
}

function joined({ members, texts }: OpenBlock): string {
  for (const [name, parts] of texts) {
    const text = parts.join('');
    if (name === 'partial_json') members.set('input', inputText(text));
    else members.set(name, JSON.stringify(textIn(members.get(name)) + text));
  }
  return jsonObject(members);
}

/** The text of an input as it is, so that numbers of any size are preserved. */
const inputText = (text: string): string => {
  const input = inputOf(text);
  return text.trim() === '' || 'INVALID_JSON' in input ? JSON.stringify(input) : text;
};
