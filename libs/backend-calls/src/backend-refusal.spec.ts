import { describe, expect, it } from 'vitest';
import { BackendError } from './backend-error.js';
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
    `1 validation error:\n  {'type': 'int_parsing', 'loc': 'body.seed', 'msg': 'Input should be a valid integer'}`,
    `1 validation error:\n  {'type': 'int_parsing', 'loc': ('body', 'seed'), 'msg': "Input should be a valid integer", 'input': 'x'}`,
    `2 validation errors:\n  {'type': 'x', 'loc': 'body.seed.0', 'msg': 'Input should be a valid integer'}\n  {'type': 'y'}`,
    `1 validation error for ChatCompletionRequest\nseed\n  Input should be a valid integer, unable to parse [type=int_parsing, input_value='x', input_type=str]\n    For further information visit https://x`,
  ])('names the field in readable words where the server sends those of its validator: %j', (message) => {
    for (const param of [undefined, null, 'body.seed', 'seed'])
      expect(refused(400, { error: { message, type: 'Bad Request', param, code: 400 } })).toMatchObject({
        problem: {
          code: 'INVALID_REQUEST',
          status: 400,
          message: expect.stringMatching(
            /^The model rejected the request: Input should be a valid integer[^[{]*$/,
          ),
          param: 'seed',
        },
      });
  });

  it.each(['body.seed', ['body', 'seed'], 'seed'])('names the field of a fault at %j', (loc) => {
    expect(refused(422, { detail: [{ loc, msg: 'no' }] }).problem).toMatchObject({ param: 'seed' });
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
    [{ error: { type: 'exceed_context_size_error', code: 400 } }],
    ['the request exceeds the available context size'],
  ])('is a context overflow if the backend reports one: %j', (body) => {
    expect(refused(400, body).problem).toMatchObject({ code: 'TOO_MANY_TOKENS', param: 'messages' });
  });

  it.each([
    "This model's maximum context length is 1024 tokens. However, you requested 1025.",
    'You passed 4000 input tokens and requested 16 output tokens. However, the context length is only 1024 tokens',
    'The decoder prompt (length 3000) is longer than the maximum model length of 2048.',
    'Requested token count exceeds the model’s maximum context length of 4096 tokens.',
    'The input (5000 tokens) is longer than the model context length (4096 tokens).',
    'request (5000 tokens) exceeds the available context size (4096 tokens)',
    'prompt too long; exceeded max context length by 12 tokens',
    'prompt is too long: 210000 tokens > 200000 maximum',
    'input length and `max_tokens` exceed context limit: 199000 + 21333 > 200000',
    'The input token count (1100000) exceeds the maximum number of tokens allowed (1048576).',
    "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
    'Input is too long for requested model. 1',
    'Input Tokens Exceeded: Number of input tokens exceeds maximum length 8192',
    'Prompt contains 40000 tokens, too large for model with 32768 maximum context length',
    'too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5000',
    'Your request exceeded model token limit: 8192',
    'Range of input length should be [1, 6000]',
  ])("is a context overflow by the words of the model's server, whose numbers it keeps: %s", (message) => {
    for (const body of [{ error: { message } }, { message }, { error: message }, { detail: message }]) {
      const { problem } = refused(400, body);
      expect(problem).toMatchObject({ code: 'TOO_MANY_TOKENS', param: 'messages' });
      expect(problem.message).toMatch(/^Your request exceeds the model's maximum context\./);
      for (const number of message.match(/\d+/g) ?? []) expect(problem.message).toContain(number);
    }
  });

  it.each([
    'The image is too large',
    'max_tokens must be at most 4096',
    'The name of a tool is too long',
    'Context is not supported',
    'temperature exceeds the maximum of 2',
  ])('is not a context overflow for another reason: %s', (message) => {
    expect(refused(400, { error: { message } }).problem).toMatchObject({ code: 'INVALID_REQUEST' });
  });

  it('repeats nothing of an enclave about an overflow, which may quote the plaintext', () => {
    const body = { error: { message: "This model's maximum context length is 9 tokens: secret" } };
    const { problem } = refused(400, body, { ...SENT, isEncrypted: true });
    expect(problem.message).not.toContain('secret');
  });

  it.each([429, 503, 529])(
    'is a 503 of a model at capacity, which others may have, for status %i',
    (status) => {
      expect(refused(status, {})).toMatchObject({
        problem: { code: 'MODEL_AT_CAPACITY', retryAfterSeconds: 5 },
        elsewhere: true,
        cooldown: 'nobody',
      });
    },
  );

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
