import { request as httpRequest } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { FaultName } from './request/faults.js';
import { type Simulator, startSimulator } from './start-simulator.js';

let simulator: Simulator;
beforeAll(async () => {
  simulator = await startSimulator();
});
afterAll(() => simulator.close());
afterEach(() => simulator.setFaults({}));

interface Received {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  /** The body as received, write by write. */
  readonly pieces: readonly Buffer[];
  readonly text: string;
  /** How the response ended. */
  readonly end: 'complete' | 'cut' | 'stalled';
}

/** How long a request may be silent before it counts as stalled. */
const SILENCE_MS = 300;
type Stall = 'none' | 'whole' | 'after-data';

/** Sends a request, which ends on silence: of the whole response, or after its first bytes. */
function send(body: object, stall: Stall = 'none'): Promise<Received> {
  return new Promise((resolve, reject) => {
    let giveUp = (): void => void request.destroy(new Error('no answer'));
    let fail = reject;
    let timer = stall === 'whole' ? setTimeout(() => giveUp(), SILENCE_MS) : undefined;
    const request = httpRequest(
      `${simulator.url}/v1/chat/completions`,
      { method: 'POST', agent: false },
      (response) => {
        const pieces: Buffer[] = [];
        const finish = (end: Received['end']): void => {
          const text = Buffer.concat(pieces).toString();
          resolve({ status: response.statusCode ?? 0, headers: response.headers, pieces, text, end });
          request.destroy();
        };
        giveUp = () => finish('stalled');
        fail = () => finish('cut');
        response.on('data', (piece: Buffer) => {
          pieces.push(piece);
          clearTimeout(timer);
          if (stall === 'after-data') timer = setTimeout(() => giveUp(), SILENCE_MS);
        });
        response.on('end', () => finish('complete'));
        response.on('error', () => finish('cut'));
      },
    );
    request.on('error', (error) => fail(error));
    request.end(
      JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Tell me a story' }], ...body }),
    );
  });
}

function stream(faults: FaultName[], extra: object = {}, stall: Stall = 'none'): Promise<Received> {
  return send({ stream: true, stream_options: { include_usage: true }, sim: { faults, ...extra } }, stall);
}

function plain(faults: FaultName[], extra: object = {}, stall: Stall = 'none'): Promise<Received> {
  return send({ sim: { faults, ...extra } }, stall);
}

/** Parses like the client libraries: events end with an empty line, several data lines are joined. */
function eventsOf(text: string): string[] {
  return text
    .replaceAll('\r\n', '\n')
    .split('\n\n')
    .map((block) =>
      block
        .split('\n')
        .filter((line) => line.startsWith('data: '))
        .map((line) => line.slice(6))
        .join('\n'),
    )
    .filter((data) => data !== '');
}

interface Chunk {
  choices: { delta: { content?: string }; finish_reason: string | null }[];
  usage?: object | null;
}

function chunksOf(text: string): Chunk[] {
  return eventsOf(text)
    .filter((data) => data !== '[DONE]')
    .map((data) => JSON.parse(data) as Chunk);
}

function contentOf(text: string): string {
  return chunksOf(text)
    .map(({ choices }) => choices[0]?.delta.content ?? '')
    .join('');
}

function tokensOf(text: string): number {
  return chunksOf(text).filter(({ choices }) => (choices[0]?.delta.content ?? '') !== '').length;
}

describe('error statuses', () => {
  test.each([
    ['400', 400, 'invalid_value'],
    ['401', 401, 'invalid_api_key'],
    ['404', 404, 'model_not_found'],
    ['429', 429, 'rate_limit_exceeded'],
    ['500', 500, null],
    ['503', 503, null],
    ['context_length', 400, 'context_length_exceeded'],
  ] as const)('%s answers with its status, streamed or not', async (fault, status, code) => {
    for (const received of [await stream([fault]), await plain([fault])]) {
      expect(received.status).toBe(status);
      expect(JSON.parse(received.text)).toMatchObject({
        error: { code, message: expect.any(String) as string },
      });
    }
  });

  test('429 and 503 tell when to retry', async () => {
    expect((await plain(['429'], { retryAfterS: 7 })).headers['retry-after']).toBe('7');
    expect((await plain(['503'])).headers['retry-after']).toBe('1');
  });
});

describe('connections', () => {
  test('cut closes the connection before any header', async () => {
    await expect(stream(['cut'])).rejects.toMatchObject({ code: 'ECONNRESET' });
  });

  test('stall accepts the request and never responds', async () => {
    await expect(stream(['stall'], {}, 'whole')).rejects.toThrow('no answer');
    await expect(plain(['stall'], {}, 'whole')).rejects.toThrow('no answer');
  });

  test('slow-headers delays even the headers', async () => {
    const start = performance.now();
    expect((await stream(['slow-headers'], { delayMs: 120 })).status).toBe(200);
    expect(performance.now() - start).toBeGreaterThanOrEqual(120);
  });

  test('cut-mid-stream closes after exactly the configured number of tokens', async () => {
    const cut = await stream(['cut-mid-stream'], { after: 5 });
    expect(cut.end).toBe('cut');
    expect(tokensOf(cut.text)).toBe(5);
    expect((await plain(['cut-mid-stream'])).end).toBe('cut');
  });

  test('reset-mid-stream resets the connection, which may lose data that was already sent', async () => {
    for (const sent of [stream(['reset-mid-stream']), plain(['reset-mid-stream'])]) {
      expect(await sent.catch((error: NodeJS.ErrnoException) => error)).toMatchObject(
        (await sent.then(
          () => true,
          () => false,
        ))
          ? { end: 'cut' }
          : { code: 'ECONNRESET' },
      );
    }
  });

  test('stall-mid-stream sends nothing more after the configured number of tokens', async () => {
    const stalled = await stream(['stall-mid-stream'], { after: 2 }, 'after-data');
    expect(stalled.end).toBe('stalled');
    expect(tokensOf(stalled.text)).toBe(2);
    const half = await plain(['stall-mid-stream'], {}, 'after-data');
    expect(half.end).toBe('stalled');
    expect(half.pieces.length).toBeGreaterThan(0);
  });
});

describe('streams', () => {
  test('error-mid-stream sends an error event', async () => {
    const events = eventsOf((await stream(['error-mid-stream'], { after: 2 })).text);
    expect(JSON.parse(events.at(-2) ?? '')).toMatchObject({ error: { type: 'server_error' } });
    expect(events).toHaveLength(5);
    expect((await plain(['error-mid-stream'])).status).toBe(500);
  });

  test('garbage is one event that is not JSON, and the stream continues', async () => {
    const events = eventsOf((await stream(['garbage'])).text).slice(0, -1);
    const broken = events.filter((data) => {
      try {
        return JSON.parse(data) === undefined;
      } catch {
        return true;
      }
    });
    expect(broken).toHaveLength(1);
    expect(events.indexOf(broken[0] ?? '')).toBe(4);
    expect(() => JSON.parse(broken[0] ?? '') as unknown).toThrow(SyntaxError);
    expect(events).toHaveLength(36);
  });

  test('missing-done, missing-finish and missing-usage leave out only that part', async () => {
    const done = (await stream(['missing-done'])).text;
    expect(done).not.toContain('[DONE]');
    expect(chunksOf(done).at(-1)?.usage).toMatchObject({ completion_tokens: 32 });
    const finish = chunksOf((await stream(['missing-finish'])).text);
    expect(finish.every(({ choices }) => choices.every((choice) => choice.finish_reason === null))).toBe(
      true,
    );
    const usage = (await stream(['missing-usage'])).text;
    expect(chunksOf(usage).every((chunk) => chunk.usage === null)).toBe(true);
    expect(usage).toContain('[DONE]');
    expect(JSON.parse((await plain(['missing-usage'])).text)).not.toHaveProperty('usage');
  });

  test('duplicate-usage sends the usage twice', async () => {
    expect(
      chunksOf((await stream(['duplicate-usage'])).text).filter(({ usage }) => usage != null),
    ).toHaveLength(2);
  });

  test.each([['stream'], ['plain']])(
    'split-utf8 splits characters over writes of a %s, and the whole is intact',
    async (kind) => {
      const received = kind === 'stream' ? await stream(['split-utf8']) : await plain(['split-utf8']);
      const isBroken = (piece: Buffer): boolean => Buffer.compare(Buffer.from(piece.toString()), piece) !== 0;
      expect(received.pieces.some(isBroken)).toBe(true);
      expect(received.text).not.toContain('\ufffd');
      expect(received.end).toBe('complete');
    },
  );

  test('crlf, comments and multi-line change the format but not the content', async () => {
    const usual = (await stream([])).text;
    const crlf = (await stream(['crlf'])).text;
    expect(crlf.replaceAll('\r\n', '')).not.toContain('\n');
    const comments = (await stream(['comments'])).text;
    expect(comments).toMatch(/^: /m);
    const lines = (await stream(['multi-line'])).text;
    expect(lines).toMatch(/^data: \{\ndata: "id"/m);
    for (const text of [crlf, comments, lines]) expect(contentOf(text)).toBe(contentOf(usual));
  });

  test('content-filter and empty change how the completion ends', async () => {
    const filtered = chunksOf((await stream(['content-filter'], { after: 4 })).text);
    expect(filtered.at(-2)?.choices[0]?.finish_reason).toBe('content_filter');
    expect(filtered.at(-1)?.usage).toMatchObject({ completion_tokens: 4 });
    const empty = await stream(['empty']);
    expect(contentOf(empty.text)).toBe('');
    expect(chunksOf(empty.text).at(-1)?.usage).toMatchObject({ completion_tokens: 0 });
  });
});

describe('fault settings', () => {
  const ask = (init: {
    headers?: Record<string, string>;
    model?: string;
    content?: string;
  }): Promise<Response> =>
    fetch(`${simulator.url}/v1/chat/completions`, {
      method: 'POST',
      headers: init.headers ?? {},
      body: JSON.stringify({
        model: init.model ?? 'm',
        messages: [{ role: 'user', content: init.content ?? 'Hi' }],
      }),
    });

  test('a header, a model name and a directive can each request a fault', async () => {
    expect((await ask({ headers: { 'x-sim-fault': '503' } })).status).toBe(503);
    expect((await ask({ model: 'm;fault=429;retry-after=2' })).headers.get('retry-after')).toBe('2');
    expect((await ask({ content: 'Hi [[sim fault=500]]' })).status).toBe(500);
    expect((await ask({})).status).toBe(200);
  });

  test('an invalid setting is rejected by name', async () => {
    const response = await ask({ content: 'Hi [[sim fault=nope]]' });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: { code: 'sim_setting_invalid', message: expect.stringContaining('nope') as string },
    });
  });

  test('faults set at runtime last for the given number of requests', async () => {
    const put = (body: object): Promise<Response> =>
      fetch(`${simulator.url}/sim/faults`, { method: 'PUT', body: JSON.stringify(body) });
    expect(await (await put({ faults: ['500'], count: 2 })).json()).toEqual({ faults: ['500'] });
    const statuses = [await ask({}), await ask({}), await ask({})].map(({ status }) => status);
    expect(statuses).toEqual([500, 500, 200]);
    await put({ faults: ['503'] });
    expect((await ask({})).status).toBe(503);
    await put({});
    expect((await ask({})).status).toBe(200);
    expect((await put({ faults: ['nope'] })).status).toBe(400);
  });

  test('a fail rate fails the same requests for the same seed', async () => {
    const run = async (): Promise<number[]> => {
      const failing = await startSimulator({ failRate: 0.5, failFaults: ['500', '503'], seed: 3 });
      const statuses: number[] = [];
      const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] });
      for (let i = 0; i < 20; i++)
        statuses.push((await fetch(`${failing.url}/v1/chat/completions`, { method: 'POST', body })).status);
      await failing.close();
      return statuses;
    };
    const first = await run();
    expect(new Set(first)).toEqual(new Set([200, 500, 503]));
    expect(await run()).toEqual(first);
  });
});
