import { ChatRequest } from '@svc/api/chat';
import { describe, expect, it } from 'vitest';
import { jsonMembers, jsonObject } from '@svc/paid/json';
import { searchTool } from '../web/search-tool.js';
import { type AddedTool, setTools } from './tool-members.js';

const tool = { type: 'function', function: { name: 'f', parameters: {} } };

function toolsSent(body: object, offered?: AddedTool): unknown {
  const text = JSON.stringify(body);
  const members = jsonMembers(text);
  const request = { model: 'm', messages: [{ role: 'user', content: 'hi' }], ...body };
  setTools(members, ChatRequest.parse(request), offered);
  return JSON.parse(jsonObject(members));
}

describe('setTools', () => {
  it('removes tools of the service', () => {
    expect(toolsSent({ tools: [{ type: 'web_search' }, tool], tool_choice: 'auto' })).toEqual({
      tools: [tool],
      tool_choice: 'auto',
    });
  });

  it('appends an internal tool, and after its call keeps it only if it is the only tool', () => {
    const ours = searchTool({ messages: [] });
    const open = { tool: ours, isCalled: false };
    const called = { tool: ours, isCalled: true };
    expect(toolsSent({ tools: [tool], parallel_tool_calls: false }, open)).toEqual({
      tools: [tool, ours],
      parallel_tool_calls: false,
    });
    expect(toolsSent({ tools: [{ type: 'web_search' }] }, open)).toEqual({ tools: [ours] });
    expect(toolsSent({ seed: 1 }, open)).toEqual({ tools: [ours], seed: 1 });
    expect(toolsSent({ tools: [tool], tool_choice: 'auto' }, called)).toEqual({
      tools: [tool],
      tool_choice: 'auto',
    });
    expect(toolsSent({ seed: 1 }, called)).toEqual({ tools: [ours], tool_choice: 'none', seed: 1 });
  });

  it('removes the tool choice when no tools remain', () => {
    expect(
      toolsSent({ tools: [{ type: 'x_search' }], tool_choice: 'auto', parallel_tool_calls: true, seed: 1 }),
    ).toEqual({ seed: 1 });
  });

  it('replaces a choice object that has only a type by its string', () => {
    expect(toolsSent({ tools: [tool], tool_choice: { type: 'required' } })).toEqual({
      tools: [tool],
      tool_choice: 'required',
    });
  });

  it('changes nothing else', () => {
    const body = { tools: [tool], tool_choice: { type: 'function', function: { name: 'f' } } };
    expect(toolsSent(body)).toEqual(body);
  });

  it.each([
    [
      { type: 'function', name: 'f', description: 'd', parameters: {}, strict: true },
      { parameters: {}, strict: true },
    ],
    [{ name: 'f', description: 'd', input_schema: { a: 1 } }, { parameters: { a: 1 } }],
    [{ type: 'custom', name: 'f', description: 'd', input_schema: {} }, { parameters: {} }],
  ])("converts functions of other interfaces to this one's format: %j", (given, rest) => {
    const { tools } = toolsSent({ tools: [given] }) as { tools: unknown };
    expect(tools).toEqual([{ type: 'function', function: { name: 'f', description: 'd', ...rest } }]);
  });

  it('keeps the bytes of schemas', () => {
    const text = '{"tools":[{"name":"f","input_schema":{"maximum":12345678901234567890.0}}]}';
    const members = jsonMembers(text);
    setTools(
      members,
      ChatRequest.parse({ model: 'm', messages: [{ role: 'user', content: 'a' }], ...JSON.parse(text) }),
    );
    expect(members.get('tools')).toContain('"maximum":12345678901234567890.0');
  });

  it("converts a flat choice to this interface's format", () => {
    expect(toolsSent({ tools: [tool], tool_choice: { type: 'function', name: 'f' } })).toMatchObject({
      tool_choice: { type: 'function', function: { name: 'f' } },
    });
  });

  it.each([
    { type: 'custom', custom: { name: 'f' } },
    {
      type: 'allowed_tools',
      allowed_tools: { mode: 'auto', tools: [{ type: 'function', function: { name: 'f' } }] },
    },
  ])('keeps the choice %j', (choice) => {
    expect(toolsSent({ tools: [tool], tool_choice: choice })).toEqual({ tools: [tool], tool_choice: choice });
  });
});
