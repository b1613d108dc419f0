import { describe, expect, it } from 'vitest';
import { BackendError } from '../dialects/backend-error.js';
import { type SentRequest, refusalOf } from './backend-refusal.js';

const SENT: SentRequest = { body: [Buffer.from('{"messages":[],"guided":{"choice":["a"]}}')], secrets: [] };

const NO_REASON = 'without a reason that can be shown.';

const refused = (status: number, body: string | object, sent = SENT) => {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return refusalOf(new BackendError(status, text), sent);
};

describe('a request rejected by a backend', () => {
  it.each([
    [400, { error: { message: 'seed is not supported', param: 'seed' } }, ': seed is not supported', 'seed'],
    [400, { error: 'x:latest does not support tools' }, ': x:latest does not support tools', null],
    [422, { detail: [{ loc: ['body', 'top_k', 0], msg: 'Not an integer' }] }, ': Not an integer', 'top_k'],
    [422, { detail: 'Not an integer' }, ': Not an integer', null],
    [422, 'tools[0]: missing field `name`', ': tools[0]: missing field `name`', null],
    [400, { message: 'no such grammar', param: 'guided' }, ': no such grammar', 'guided'],
    [400, { message: 'no', param: 'unsent' }, ': no', null],
    [400, { message: 'no', param: 7 }, ': no', null],
    [400, { message: 'no', param: 'messages.0.content' }, ': no', 'messages'],
    [415, { error: { message: 'No such type of image' } }, ': No such type of image', null],
    [400, '', ` ${NO_REASON}`, null],
    [400, '<html>nginx</html>', ` ${NO_REASON}`, null],
    [400, { error: { message: '10.0.0.1' } }, ` ${NO_REASON}`, null],
  ])('reports the reason and the field that the backend named: %s %j', (...row) => {
    const [status, body, end, param] = row;
    const message = `The model rejected the request${end}`;
    expect(refused(status, body)).toMatchObject({
      problem: { code: 'INVALID_REQUEST', status: 400, message, param },
      elsewhere: false,
      cooldown: 'nobody',
    });
  });

  it.each([
    [
      `1 validation error:\n  {'type': 'float_parsing', 'loc': ('body', 'seed'), 'msg': 'Not a number', 'input': 'x'}`,
      'Not a number',
      'seed',
    ],
    [
      `2 validation errors:\n  {'type': 'a', 'loc': ('body', 'messages', 0), 'msg': "It isn't", 'input': 1}\n  {'type': 'b'}`,
      "It isn't",
      'messages',
    ],
  ])("is the request's fault although the server responds with 500: %j", (message, reason, param) => {
    const error = { message, type: 'internal_server_error', param: null, code: null };
    expect(refused(500, { error })).toMatchObject({
      problem: {
        code: 'INVALID_REQUEST',
        status: 400,
        message: `The model rejected the request: ${reason}`,
        param,
      },
      elsewhere: false,
      cooldown: 'nobody',
    });
  });

  it.each([
    [400, { error: { message: 'No connected db.', type: 'no_db_connection', code: '400' } }],
    [400, { error: { message: '/chat/completions: Invalid model name passed in model=x.' } }],
    [404, { error: { message: 'The model does not exist', code: 'model_not_found' } }],
    [401, { error: 'Unauthorized' }],
  ])('is a backend failure if its key or model name is wrong: %i %j', (status, body) => {
    expect(refused(status, body)).toMatchObject({
      problem: { code: 'INFERENCE_FAILED' },
      elsewhere: true,
      cooldown: 'nobody',
    });
  });

  it('reports the field if the backend gave no reason', () => {
    const { problem } = refused(400, { error: { param: 'seed' } });
    expect(problem.message).toBe(`The model rejected the value of seed ${NO_REASON}`);
  });

  it('keeps at most 500 characters of a reason', () => {
    const { problem } = refused(400, { message: 'so '.repeat(10_000) });
    expect(problem.message.length).toBeLessThan(550);
  });

  it("hides the backend's secrets", () => {
    const sent = { ...SENT, secrets: ['gpu-box:8000', 'gpu-box', 'EMPTY-KEY', ''] };
    const { problem } = refused(400, { message: 'gpu-box:8000 got EMPTY-KEY' }, sent);
    expect(problem.message).toBe('The model rejected the request: … got …');
  });

  it.each([
    [{ error: { message: 'too long', code: 'context_length_exceeded' } }],
    [{ error: "This model's maximum context length is 9 tokens" }],
    [{ error: { type: 'exceed_context_size_error', code: 400 } }],
    ['the request exceeds the available context size'],
  ])('is a context overflow if the backend reports one: %j', (body) => {
    expect(refused(400, body).problem).toMatchObject({ code: 'TOO_MANY_TOKENS', param: 'messages' });
  });

  it.each([
    ['embeddings', 'input'],
    ['speech', 'input'],
    ['image', 'prompt'],
    ['image-edit', 'prompt'],
  ] as const)('names the field of a call of kind %s that is too long', (kind, param) => {
    const body = { error: { message: 'too long', code: 'context_length_exceeded' } };
    const { problem } = refused(400, body, { ...SENT, kind });
    expect(problem).toMatchObject({ code: 'TOO_MANY_TOKENS', param });
  });
});
