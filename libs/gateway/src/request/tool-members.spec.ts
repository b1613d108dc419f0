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
});
