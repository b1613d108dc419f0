import { ChatRequest } from '@svc/contracts';
import { describe, expect, it } from 'vitest';
import { jsonMembers, jsonObject } from '../json/json-members.js';
import { tellTools } from './tool-members.js';

const tool = { type: 'function', function: { name: 'f', parameters: {} } };

function told(body: object): unknown {
  const text = JSON.stringify(body);
  const members = jsonMembers(text);
  tellTools(members, ChatRequest.parse({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...body }));
  return JSON.parse(jsonObject(members));
}

describe('tellTools', () => {
  it('leaves tools of the service out', () => {
    expect(told({ tools: [{ type: 'web_search' }, tool], tool_choice: 'auto' })).toEqual({
      tools: [tool],
      tool_choice: 'auto',
    });
  });

  it('leaves no choice among no tools', () => {
    expect(
      told({ tools: [{ type: 'x_search' }], tool_choice: 'auto', parallel_tool_calls: true, seed: 1 }),
    ).toEqual({ seed: 1 });
  });

  it('makes a word of a choice that is nothing but one', () => {
    expect(told({ tools: [tool], tool_choice: { type: 'required' } })).toEqual({
      tools: [tool],
      tool_choice: 'required',
    });
  });

  it('touches nothing else', () => {
    const body = { tools: [tool], tool_choice: { type: 'function', function: { name: 'f' } } };
    expect(told(body)).toEqual(body);
  });

  it.each([
    [
      { type: 'function', name: 'f', description: 'd', parameters: {}, strict: true },
      { parameters: {}, strict: true },
    ],
    [{ name: 'f', description: 'd', input_schema: { a: 1 } }, { parameters: { a: 1 } }],
    [{ type: 'custom', name: 'f', description: 'd', input_schema: {} }, { parameters: {} }],
  ])('gives functions of other interfaces the form of this one: %j', (given, rest) => {
    const { tools } = told({ tools: [given] }) as { tools: unknown };
    expect(tools).toEqual([{ type: 'function', function: { name: 'f', description: 'd', ...rest } }]);
  });

  it('keeps the bytes of schemas', () => {
    const text = '{"tools":[{"name":"f","input_schema":{"maximum":12345678901234567890.0}}]}';
    const members = jsonMembers(text);
    tellTools(
      members,
      ChatRequest.parse({ model: 'm', messages: [{ role: 'user', content: 'a' }], ...JSON.parse(text) }),
    );
    expect(members.get('tools')).toContain('"maximum":12345678901234567890.0');
  });

  it('gives a flat choice the form of this interface', () => {
    expect(told({ tools: [tool], tool_choice: { type: 'function', name: 'f' } })).toMatchObject({
      tool_choice: { type: 'function', function: { name: 'f' } },
    });
  });

  it.each([
    { type: 'custom', custom: { name: 'f' } },
    {
      type: 'allowed_tools',
      allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] },
    },
  ])('leaves a choice as it is: %j', (choice) => {
    expect(told({ tools: [tool], tool_choice: choice })).toEqual({ tools: [tool], tool_choice: choice });
  });
});
