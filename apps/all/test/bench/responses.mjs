// The backend's fixed responses, and the request for every gateway.

/** The requested model, the one for streams, and the backend's name of both. */
export const MODEL = 'bench';
export const STREAM_MODEL = 'bench-stream';
/** For streams that the backend sends in one piece, at this path. */
export const SHORT_MODEL = 'bench-short';
export const SHORT_PATH = '/short';
export const BACKEND_MODEL = 'bench-weights';

const SENTENCE = 'The tide comes in twice a day because the moon pulls on the sea, and goes out in between.';
const WORD = ' tide';

/** Chunks with text in a streamed response. */
export const TEXT_CHUNKS = 500;

/** Delay between two chunks of a stream, so that each is sent separately. */
export const STREAM_PACE_MS = 5;

/** In every chunk that carries text, and in no other. */
export const TEXT_MARK = Buffer.from(`"content":${JSON.stringify(WORD)}`);

const HEAD = { id: 'chatcmpl-bench', created: 1_760_000_000, model: BACKEND_MODEL };

/** The complete response, as JSON. */
export const completion = JSON.stringify({
  ...HEAD,
  object: 'chat.completion',
  choices: [
    { index: 0, message: { role: 'assistant', content: SENTENCE }, logprobs: null, finish_reason: 'stop' },
  ],
  usage: usage(22),
});

/** A streamed response with this many chunks of text: one server-sent event per entry. */
export function streamEvents(texts) {
  return [
    chunk({ delta: { role: 'assistant', content: '' } }),
    ...Array.from({ length: texts }, () => chunk({ delta: { content: WORD } })),
    chunk({ delta: {}, finish_reason: 'stop' }),
    event({ ...HEAD, object: 'chat.completion.chunk', choices: [], usage: usage(texts) }),
    'data: [DONE]\n\n',
  ];
}

/** A short streamed response in one piece. */
export const shortStream = streamEvents(4).join('');

/** The streamed response of the usual length. */
export const events = streamEvents(TEXT_CHUNKS);

const messages = [
  { role: 'system', content: 'You explain things in one sentence.' },
  { role: 'user', content: 'Why does the tide come in and go out?' },
];

/** The body of a request without streaming. */
export const question = JSON.stringify({ model: MODEL, messages, max_tokens: 64, temperature: 0.7 });

/** The bodies of requests with streaming. */
export const streamQuestion = streamed(STREAM_MODEL);
export const shortQuestion = streamed(SHORT_MODEL);

/** Whether a gateway's response is the backend's, with its usage. */
export function isTheResponse(text) {
  const { choices, usage: used } = JSON.parse(text);
  return choices[0].message.content === SENTENCE && used.completion_tokens === 22;
}

function streamed(model) {
  return JSON.stringify({
    model,
    messages,
    max_tokens: TEXT_CHUNKS,
    temperature: 0.7,
    stream: true,
    stream_options: { include_usage: true },
  });
}

function usage(completionTokens) {
  const promptTokens = 31;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}

function chunk({ delta, finish_reason = null }) {
  const choices = [{ index: 0, delta, logprobs: null, finish_reason }];
  return event({ ...HEAD, object: 'chat.completion.chunk', choices });
}

function event(data) {
  return `data: ${JSON.stringify(data)}\n\n`;
}
