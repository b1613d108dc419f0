import { ChatRequest } from '@svc/contracts';
import { describe, expect, it } from 'vitest';
import { jsonMembers, jsonObject } from '../json/json-members.js';
import { searchTool } from '../web/search-tool.js';
import { type OfferedTool, tellTools } from './tool-members.js';

const tool = { type: 'function', function: { name: 'f', parameters: {} } };

function told(body: object, offered?: OfferedTool): unknown {
  const text = JSON.stringify(body);
  const members = jsonMembers(text);
  const request = { model: 'm', messages: [{ role: 'user', content: 'hi' }], ...body };
  tellTools(members, ChatRequest.parse(request), offered);
  return JSON.parse(jsonObject(members));
}

describe('tellTools', () => {
  it('leaves tools of the service out', () => {
    expect(told({ tools: [{ type: 'web_search' }, tool], tool_choice: 'auto' })).toEqual({
      tools: [tool],
      tool_choice: 'auto',
    });
  });

  it('offers a tool of ours behind the others, and once it is called only where there is no other', () => {
    const ours = searchTool({ messages: [] });
    const open = { tool: ours, isCalled: false };
    const called = { tool: ours, isCalled: true };
    expect(told({ tools: [tool], parallel_tool_calls: false }, open)).toEqual({
      tools: [tool, ours],
      parallel_tool_calls: false,
    });
    expect(told({ tools: [{ type: 'web_search' }] }, open)).toEqual({ tools: [ours] });
    expect(told({ seed: 1 }, open)).toEqual({ tools: [ours], seed: 1 });
    expect(told({ tools: [tool], tool_choice: 'auto' }, called)).toEqual({
      tools: [tool],
      tool_choice: 'auto',
    });
    expect(told({ seed: 1 }, called)).toEqual({ tools: [ours], tool_choice: 'none', seed: 1 });
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
