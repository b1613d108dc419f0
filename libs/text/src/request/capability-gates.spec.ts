import { Catalog, type Model } from '@svc/catalog';
import { CatalogModel } from '@svc/contracts/catalog';
import { ChatRequest } from '@svc/api/chat';
import { Problem } from '@svc/contracts/problems';
import { describe, expect, it } from 'vitest';
import { checkCapabilities } from './capability-gates.js';

function model(capabilities: object): Model {
  const pricing = { input: 1, output: 1 };
  const file = CatalogModel.parse({
    id: 'm',
    name: 'M',
    contextTokens: 9,
    maxCompletionTokens: 9,
    pricing,
    capabilities,
  });
  const [found] = new Catalog({ models: [file], tiers: {}, extras: {} }).text.list;
  if (!found) throw new Error('no model');
  return found;
}

function faults(body: object, capabilities: object = {}): string[] {
  const request = ChatRequest.parse({ model: 'm', messages: [{ role: 'user', content: 'hi' }], ...body });
  try {
    checkCapabilities(request, model(capabilities));
    return [];
  } catch (error) {
    if (error instanceof Problem)
      return (error.issues ?? []).map(({ path, message }) => `${path.join('.')}: ${message}`);
    throw error;
  }
}

const image = { type: 'image_url', image_url: { url: 'https://a.example/i.png' } };
const video = { type: 'video_url', video_url: { url: 'https://a.example/v.mp4' } };
const user = (...content: object[]): object => ({ messages: [{ role: 'user', content }] });
const tool = { type: 'function', function: { name: 'f' } };

describe('checkCapabilities', () => {
  it.each([
    [{ tools: [tool] }, 'tools', 'supportsFunctionCalling'],
    [{ parallel_tool_calls: true }, 'parallel_tool_calls', 'supportsFunctionCalling'],
    [{ response_format: { type: 'json_object' } }, 'response_format', 'supportsResponseSchema'],
    [{ logprobs: true }, 'logprobs', 'supportsLogProbs'],
    [{ top_logprobs: 2 }, 'top_logprobs', 'supportsLogProbs'],
    [user(image), 'messages.0.content', 'supportsVision'],
    [user(video), 'messages.0.content', 'supportsVideoInput'],
    [
      user({ type: 'input_audio', input_audio: { data: 'AAAA' } }),
      'messages.0.content',
      'supportsAudioInput',
    ],
  ])(
    'refuses %j for a model without the capability, naming %s, and accepts it with %s',
    (body, field, capability) => {
      expect(faults(body)).toHaveLength(1);
      expect(faults(body)[0]).toMatch(new RegExp(`^${field}: `));
      expect(faults(body, { [capability]: true })).toEqual([]);
    },
  );

  it('requires no capability for options that are switched off', () => {
    expect(
      faults({
        tools: [],
        tool_choice: 'none',
        logprobs: false,
        top_logprobs: 0,
        response_format: { type: 'text' },
      }),
    ).toEqual([]);
  });

  it('reports all violations at once', () => {
    expect(faults({ tools: [tool], tool_choice: 'required', logprobs: true, ...user(image) })).toHaveLength(
      4,
    );
  });

  it('limits the parts of a message and of a request', () => {
    const all = { supportsVision: true, supportsVideoInput: true };
    expect(faults(user(...Array.from({ length: 11 }, () => image)), all)).toHaveLength(1);
    expect(faults(user(...Array.from({ length: 10 }, () => image)), all)).toEqual([]);
    expect(faults(user(image, image), { ...all, maxImages: 1 })).toHaveLength(1);
    expect(faults(user(video, video, video, video), all)).toHaveLength(1);
    const marked = { type: 'text', text: 'x', cache_control: { type: 'ephemeral' } };
    expect(faults(user(marked, marked, marked, marked, marked))).toHaveLength(1);
  });
});
