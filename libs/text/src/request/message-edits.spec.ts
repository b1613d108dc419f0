import type { ContentPart, Message } from '@svc/api/chat';
import { describe, expect, it } from 'vitest';
import { type MessageEdits, editMessages } from './message-edits.js';

const rules = { lateSystem: false, nullContent: true, isEncrypted: false };
const nothing: MessageEdits = { prompt: '', untrusted: '', dropped: new Set(), parts: new Map(), rules };

/** Edits the messages of a JSON text. The edits are chosen from the parsed messages. */
function edit(text: string, choose: (messages: Message[]) => Partial<MessageEdits>) {
  const messages = JSON.parse(text) as Message[];
  const edited = editMessages({ messages, text }, { ...nothing, ...choose(messages) });
  expect(JSON.parse(edited.text)).toEqual(edited.messages);
  return edited;
}

describe('editMessages', () => {
  const big = '{"role":"user","content":"a","seen":12345678901234567890.00}';

  it('keeps the bytes of unedited messages', () => {
    const text = `[ ${big} , {"role":"assistant","content":null}]`;
    expect(editMessages({ messages: JSON.parse(text) as Message[], text }, nothing).text).toBe(
      `[${big},{"role":"assistant","content":null}]`,
    );
  });

  it.each([
    ['a system prompt', '{"role":"user","content":"a"}', 'house'],
    ["one text with the caller's system prompt", '{"role":"system","content":"b\\u0041"}', 'house\n\nbA'],
    [
      "one list with the caller's parts",
      '{"role":"system","content":[{"type":"text","text":"b"}]}',
      [
        { type: 'text', text: 'house' },
        { type: 'text', text: 'b' },
      ],
    ],
    ["one text with the caller's developer prompt", '{"role":"developer","content":"b"}', 'house\n\nb'],
  ])('puts a prompt first, as %s', (_, first, content) => {
    const { messages, text } = edit(`[${first},${big}]`, () => ({ prompt: 'house' }));
    expect(messages[0]).toEqual({ role: 'system', content });
    expect(text).toContain('12345678901234567890.00');
  });

  it.each([
    ['a', 'found\n\na'],
    [
      [{ type: 'text', text: 'a' }],
      [
        { type: 'text', text: 'found' },
        { type: 'text', text: 'a' },
      ],
    ],
  ])(
    'puts untrusted content before the text of the last user message and nowhere else',
    (content, joined) => {
      const last = JSON.stringify({ role: 'user', content });
      const { messages } = edit(`[${big},${last},{"role":"assistant","content":"b"}]`, () => ({
        untrusted: 'found',
      }));
      expect(messages.map((message) => message.content)).toEqual(['a', joined, 'b']);
    },
  );

  it('removes dropped messages', () => {
    const { text } = edit(`[{"role":"assistant","content":""},${big}]`, ([first]) => ({
      dropped: new Set(first ? [first] : []),
    }));
    expect(text).toBe(`[${big}]`);
  });

  const url = 'data:image/png;base64,AAAA';
  const parts = `[{"type":"text","text":"x","n":1e400},{"type":"file","file":{"file_data":"${url}"}}]`;
  const part: ContentPart = { type: 'image_url', image_url: { url: `${url}$&` } };

  it('replaces parts', () => {
    const { text } = edit(`[{"role":"user","content":${parts}}]`, ([message]) => ({
      parts: new Map([[message?.content?.[1] as ContentPart, { part, text: JSON.stringify(part) }]]),
    }));
    expect(text).toContain('"n":1e400');
    expect(text).toContain(`"url":"${url}$&"`);
  });

  it('leaves a note in a message that has lost all its parts', () => {
    const { messages } = edit(`[{"role":"user","content":${parts}}]`, ([message]) => ({
      parts: new Map(((message?.content ?? []) as ContentPart[]).map((each) => [each, undefined])),
    }));
    expect(messages[0]?.content).toEqual([{ type: 'text', text: '[left out]' }]);
  });
});
