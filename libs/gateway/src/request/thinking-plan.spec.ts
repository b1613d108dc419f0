import { CatalogModel, ChatRequest } from '@svc/contracts';
import { describe, expect, it } from 'vitest';
import { jsonMembers, jsonObject } from '../json/json-members.js';
import { effectiveParameters } from '../models/svc-parameters.js';
import { type ThinkingPlan, planThinking, tellBackend } from './thinking-plan.js';

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

/** What a backend is sent, but for the messages where they are not asked about. */
function sent(body: object, reasoning?: object): unknown {
  const members = jsonMembers(JSON.stringify({ messages: MESSAGES, ...body }));
  tellBackend(members, planOf(body, reasoning), model(reasoning));
  const { messages, svc_parameters: _, ...rest } = JSON.parse(jsonObject(members)) as Record<string, unknown>;
  return JSON.stringify(messages) === JSON.stringify(MESSAGES) ? rest : { messages, ...rest };
}

const DISABLED = { svc_parameters: { disable_thinking: true } };

describe('planThinking', () => {
  it('strips when asked to, and when thinking is disabled', () => {
    expect(planOf({}).strip).toBe(false);
    expect(planOf({ svc_parameters: { strip_thinking_response: true } })).toMatchObject({
      strip: true,
      off: false,
    });
    expect(planOf(DISABLED)).toMatchObject({ strip: true, off: true });
    expect(planOf({ reasoning_effort: 'none' })).toMatchObject({ strip: false, off: true });
  });

  it('begins inside a block where the model does, unless it was told not to think', () => {
    expect(planOf({}, { startsInside: true }).startsInside).toBe(true);
    expect(planOf(DISABLED, { startsInside: true, ...OFF }).startsInside).toBe(false);
    expect(planOf(DISABLED, { startsInside: true }).startsInside).toBe(true);
  });
});

describe('tellBackend', () => {
  it.each<[string, object, object | undefined, unknown]>([
    ['nothing of a request that says nothing', {}, undefined, {}],
    [
      'the effort as OpenAI has it',
      { reasoning: { effort: 'low', summary: 'auto' } },
      undefined,
      { reasoning_effort: 'low' },
    ],
    [
      'reasoning_effort before reasoning.effort',
      { reasoning_effort: 'high', reasoning: { effort: 'low' } },
      undefined,
      { reasoning_effort: 'high' },
    ],
    [
      'a switch as the effort none',
      { reasoning: { enabled: false } },
      undefined,
      { reasoning_effort: 'none' },
    ],
    ['no switch that is on', { reasoning: { enabled: true } }, undefined, {}],
    [
      'an effort before a switch',
      { reasoning: { enabled: false, effort: 'low' } },
      undefined,
      { reasoning_effort: 'low' },
    ],
    [
      'the effort in an object, beside what else the client put there',
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
    ['nothing where nothing is taken', { reasoning_effort: 'high' }, { effort: 'none' }, {}],
    [
      'to switch off by a member, beside what else the client put there',
      { ...DISABLED, reasoning_effort: 'high', chat_template_kwargs: { x: 1 } },
      OFF,
      { chat_template_kwargs: { x: 1, enable_thinking: false } },
    ],
    [
      'to switch off at the effort none',
      { reasoning_effort: 'none' },
      OFF,
      { chat_template_kwargs: { enable_thinking: false } },
    ],
    [
      'to switch off by a word',
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
      'to switch off by a part with the word',
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
      'nothing when it cannot be switched off',
      { ...DISABLED, reasoning_effort: 'low' },
      {},
      { reasoning_effort: 'low' },
    ],
  ])('says %s', (...row) => {
    const [, body, reasoning, expected] = row;
    expect(sent(body, reasoning)).toEqual(expected);
  });

  it('keeps the bytes of an object that it does not change', () => {
    const reasoning = '{"effort":"low",  "x": 12345678901234567890}';
    const members = jsonMembers(`{"reasoning":${reasoning}}`);
    const plan = planOf({ reasoning: {} });
    tellBackend(members, plan, model({ effort: 'reasoning' }));
    expect(members.get('reasoning')).toBe(reasoning);
  });
});
