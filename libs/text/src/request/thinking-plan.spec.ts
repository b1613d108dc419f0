import { CatalogModel } from '@svc/contracts/catalog';
import { ChatRequest } from '@svc/api/chat';
import { describe, expect, it } from 'vitest';
import { jsonMembers, jsonObject } from '@svc/paid/json';
import { effectiveParameters } from '@svc/paid/models';
import { type ThinkingPlan, planThinking, setThinking } from './thinking-plan.js';

const model = (reasoning?: object) =>
  CatalogModel.parse({
    id: 'm',
    name: 'M',
    contextTokens: 1,
    maxCompletionTokens: 1,
    pricing: { input: 0, output: 0 },
    reasoning,
  });

const OFF = { off: { members: { chat_template_kwargs: { enable_thinking: false } } } };
const MESSAGES = [{ role: 'user', content: 'hi' }];

function planOf(body: object, reasoning?: object): ThinkingPlan {
  const request = ChatRequest.parse({ model: 'm', messages: MESSAGES, ...body });
  const parameters = effectiveParameters(request.svc_parameters, {});
  return planThinking({ request, parameters, model: model(reasoning) });
}

/** What a backend receives; without the messages if they are unchanged. */
function sent(body: object, reasoning?: object): unknown {
  const members = jsonMembers(JSON.stringify({ messages: MESSAGES, ...body }));
  setThinking(members, planOf(body, reasoning), model(reasoning));
  const { messages, svc_parameters: _, ...rest } = JSON.parse(jsonObject(members)) as Record<string, unknown>;
  return JSON.stringify(messages) === JSON.stringify(MESSAGES) ? rest : { messages, ...rest };
}

const DISABLED = { svc_parameters: { disable_thinking: true } };

describe('planThinking', () => {
  it('strips reasoning on request, and when thinking is disabled', () => {
    expect(planOf({}).strip).toBe(false);
    expect(planOf({ svc_parameters: { strip_thinking_response: true } })).toMatchObject({
      strip: true,
      off: false,
    });
    expect(planOf(DISABLED)).toMatchObject({ strip: true, off: true });
    expect(planOf({ reasoning_effort: 'none' })).toMatchObject({ strip: false, off: true });
  });

  it('starts inside a block if the model does, unless thinking is off', () => {
    expect(planOf({}, { startsInside: true }).startsInside).toBe(true);
    expect(planOf(DISABLED, { startsInside: true, ...OFF }).startsInside).toBe(false);
    expect(planOf(DISABLED, { startsInside: true }).startsInside).toBe(true);
  });
});

describe('setThinking', () => {
  it.each<[string, object, object | undefined, unknown]>([
    ['nothing for a request without options', {}, undefined, {}],
    [
      'the effort in the form of OpenAI',
      { reasoning: { effort: 'low', summary: 'auto' } },
      undefined,
      { reasoning_effort: 'low' },
    ],
    [
      'reasoning_effort in preference to reasoning.effort',
      { reasoning_effort: 'high', reasoning: { effort: 'low' } },
      undefined,
      { reasoning_effort: 'high' },
    ],
    [
      'a disabled switch as the effort none',
      { reasoning: { enabled: false } },
      undefined,
      { reasoning_effort: 'none' },
    ],
    ['nothing for an enabled switch', { reasoning: { enabled: true } }, undefined, {}],
    [
      'an effort in preference to a switch',
      { reasoning: { enabled: false, effort: 'low' } },
      undefined,
      { reasoning_effort: 'low' },
    ],
    [
      "the effort in an object, keeping the client's other members",
      { reasoning_effort: 'high', reasoning: { effort: 'low', max_tokens: 9 } },
      { effort: 'reasoning' },
      { reasoning: { effort: 'high', max_tokens: 9 } },
    ],
    [
      'the effort for a chat template',
      { reasoning_effort: 'high', chat_template_kwargs: { x: 1 } },
      { effort: 'chat_template_kwargs' },
      { chat_template_kwargs: { x: 1, reasoning_effort: 'high' } },
    ],
    ['no effort to a model that accepts none', { reasoning_effort: 'high' }, { effort: 'none' }, {}],
    [
      "the off switch as a member, keeping the client's other members",
      { ...DISABLED, reasoning_effort: 'high', chat_template_kwargs: { x: 1 } },
      OFF,
      { chat_template_kwargs: { x: 1, enable_thinking: false } },
    ],
    [
      'the off switch for the effort none',
      { reasoning_effort: 'none' },
      OFF,
      { chat_template_kwargs: { enable_thinking: false } },
    ],
    [
      'the off switch as a suffix of the last user message',
      {
        ...DISABLED,
        messages: [...MESSAGES, { role: 'assistant', content: 'a' }, { role: 'user', content: 'b' }],
      },
      { off: { suffix: '/no_think' } },
      {
        messages: [
          ...MESSAGES,
          { role: 'assistant', content: 'a' },
          { role: 'user', content: 'b /no_think' },
        ],
      },
    ],
    [
      'the off switch as a text part of the last user message',
      { ...DISABLED, messages: [{ role: 'user', content: [{ type: 'text', text: 'b' }] }] },
      { off: { suffix: '/no_think' } },
      {
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'b' },
              { type: 'text', text: '/no_think' },
            ],
          },
        ],
      },
    ],
    [
      'the effort when thinking cannot be switched off',
      { ...DISABLED, reasoning_effort: 'low' },
      {},
      { reasoning_effort: 'low' },
    ],
  ])('sends %s', (...row) => {
    const [, body, reasoning, expected] = row;
    expect(sent(body, reasoning)).toEqual(expected);
  });

  it('keeps the bytes of an object that it does not change', () => {
    const reasoning = '{"effort":"low",  "x": 12345678901234567890}';
    const members = jsonMembers(`{"reasoning":${reasoning}}`);
    const plan = planOf({ reasoning: {} });
    setThinking(members, plan, model({ effort: 'reasoning' }));
    expect(members.get('reasoning')).toBe(reasoning);
  });
});
