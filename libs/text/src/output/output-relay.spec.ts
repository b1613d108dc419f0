import type { ChunkStream } from '@svc/contracts/inference';
import { Problem } from '@svc/contracts/problems';
import { describe, expect, it } from 'vitest';
import { OutputRelay, type ResponseEncoder, type OutputHold } from './output-relay.js';
import type { ChoicePiece } from './assembled-choice.js';
import { OpenAiOutput } from '../../test/openai-output.js';

const event = (content: string): Uint8Array =>
  Buffer.from(`data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`);

const streamOf = (bytes: AsyncIterable<readonly Uint8Array[]>): ChunkStream => ({
  backend: 'b',
  retries: 0,
  bytes,
});

/** A client that receives pieces as they arrive, until it disconnects. */
class Client implements ResponseEncoder {
  readonly isLive = true;
  readonly repeating = undefined;
  readonly pieces: ChoicePiece[] = [];
  flushed = 0;

  constructor(public isGone = false) {}

  add(pieces: readonly ChoicePiece[]): void {
    this.pieces.push(...pieces);
  }

  continueWith(): void {
    throw new Error('there is one ask');
  }

  flush(): undefined {
    this.flushed = this.pieces.length;
  }

  end(): void {
    throw new Error('it was not charged yet');
  }
}

const answerOf = (source: ChunkStream, encoder: Client, hold?: Partial<OutputHold>): OutputRelay => {
  const output = new OpenAiOutput({ thinking: { strip: false, startsInside: false }, tokenizer: undefined });
  return new OutputRelay({
    source: output.responseOf(source),
    encoder,
    idleTimeoutMs: 60_000,
    hold: hold as OutputHold | undefined,
    normaliser: output.normaliser,
  });
};

describe('a response whose hold cannot grow for another reason than lack of money', () => {
  it('ends there, and keeps what came before as delivered and chargeable', async () => {
    const client = new Client();
    let checks = 0;
    const hold = {
      isAhead: () => checks++ === 0,
      reach: () => Promise.reject(new Problem('UNAVAILABLE')),
    };
    const together = (async function* () {
      yield [event('one'), event('two')];
    })();
    const response = answerOf(streamOf(together), client, hold);
    expect(await response.deliver()).toMatchObject({ kind: 'cut', problem: { code: 'UNAVAILABLE' } });
    expect(client.pieces).toMatchObject([{ delta: { content: 'one' } }]);
    expect(client.flushed).toBe(1);
    expect(response.normaliser.meter.deliveredTokens).toBeGreaterThan(0);
  });
});

describe('a response whose client has disconnected', () => {
  const gone = (after: Error): ReturnType<OutputRelay['deliver']> => {
    const client = new Client();
    const failing = (async function* () {
      yield [event('one')];
      client.isGone = true;
      throw after;
    })();
    return answerOf(streamOf(failing), client).deliver();
  };

  it('records a failure for the log', async () => {
    const ending = await gone(new Error('the code is wrong'));
    expect(ending).toMatchObject({ kind: 'client_gone', problem: { code: 'UNKNOWN_ERROR' } });
  });

  it('records no failure when aborting the backend call caused it', async () => {
    const abort = new DOMException('This operation was aborted', 'AbortError');
    expect(await gone(new Problem('INFERENCE_FAILED', { cause: abort }))).toEqual({ kind: 'client_gone' });
  });
});
