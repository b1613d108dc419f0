import { fieldsOf, isFields } from '@svc/contracts/inference';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AssembledChoice } from './assembled-choice.js';
import { InternalTool } from './internal-tool.js';
import { OpenAiOutput } from '../../test/openai-output.js';

const OURS = 'web_search';

/** The parts of a model's response, in order: texts and calls with their arguments. */
type Part = { readonly text: string } | { readonly name: string; readonly args: string };

/** A model's response as stream deltas, with texts and arguments split into pieces of a given size. */
function deltasOf(parts: readonly Part[], size: number): object[] {
  const cut = (text: string): string[] => text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? [''];
  let calls = 0;
  return parts.flatMap((part): object[] => {
    if ('text' in part) return cut(part.text).map((content) => ({ content }));
    const index = calls++;
    const [first = '', ...others] = cut(part.args);
    const begun = {
      index,
      id: `c${index}`,
      type: 'function',
      function: { name: part.name, arguments: first },
    };
    const rest = others.map((more) => ({ index, function: { arguments: more } }));
    return [begun, ...rest].map((call) => ({ tool_calls: [call] }));
  });
}

/** The part of it that a client sees, and the call hidden from it. */
function shownOf(deltas: readonly object[], mayCall: boolean) {
  const tool = new InternalTool(OURS, mayCall);
  const thinking = { strip: false, startsInside: false };
  const output = new OpenAiOutput({ thinking, tokenizer: undefined, tool });
  const choice = new AssembledChoice(0);
  for (const delta of deltas) {
    const event = JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] });
    for (const piece of output.read(event)) choice.add(piece);
  }
  for (const piece of output.normaliser.finish('stop')) choice.add(piece);
  const { message, finish_reason: finish } = choice.whole();
  const calls = fieldsOf(message['tool_calls']).map(({ function: called }) =>
    isFields(called) ? [called['name'], called['arguments']] : [],
  );
  return { content: message['content'] ?? '', calls, finish, tool };
}

const part: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ text: fc.string({ minLength: 1, maxLength: 12 }) }),
  fc.record({
    name: fc.constantFrom(OURS, 'look', 'send'),
    args: fc.string({ minLength: 1, maxLength: 12 }),
  }),
);

describe('InternalTool', () => {
  it('shows everything before the internal call and nothing after it, wherever the response is split', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), fc.integer({ min: 1, max: 5 }), (parts, size) => {
        const called = parts.findIndex((each) => 'name' in each);
        const first = parts[called];
        const isWanted = first !== undefined && 'name' in first && first.name === OURS;
        const before = isWanted ? parts.slice(0, called) : parts;
        const { content, calls, finish, tool } = shownOf(deltasOf(parts, size), true);
        const text = before.map((each) => ('text' in each ? each.text : '')).join('');
        const others = before.flatMap((each) => ('name' in each && each.name !== OURS ? [each] : []));
        expect(content).toBe(text);
        expect(calls).toEqual(others.map(({ name, args }) => [name, args]));
        expect(finish).toBe(others.length > 0 ? 'tool_calls' : 'stop');
        expect(tool.call?.arguments).toBe(isWanted ? first.args : undefined);
        expect(tool.isShown).toBe(text !== '' || others.length > 0);
      }),
    );
  });

  it('removes every internal call once the tool may no longer be called', () => {
    fc.assert(
      fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
        const { content, calls, tool } = shownOf(deltasOf(parts, 3), false);
        expect(content).toBe(parts.map((each) => ('text' in each ? each.text : '')).join(''));
        expect(calls.map(([name]) => name)).toEqual(
          parts.flatMap((each) => ('name' in each && each.name !== OURS ? [each.name] : [])),
        );
        expect(tool.call).toBeUndefined();
      }),
    );
  });
});
