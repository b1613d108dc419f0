import type { Chunk, Cost } from '../response-bodies.js';
import type { Deployment } from '../deployment.js';
import type { Payer } from '../payers.js';
import { TEST_MODEL } from '../platform.js';
import { nanoCost } from '../reconciliation.js';

/** Far longer than any stream of these tests on any machine, including all waits. */
const DEADLINE_MS = 90_000;

interface Wanted {
  /** The gateway to call. */
  readonly to: string;
  readonly tokens: number;
  readonly itlMs: number;
}

/** Streams that have started, each followed to its end. */
export class OpenStreams {
  private constructor(private readonly ends: readonly Promise<string>[]) {}

  /** Resolves once all of them have started: one for each payer. */
  static async open(
    deployment: Deployment,
    payers: readonly Payer[],
    { to, tokens, itlMs }: Wanted,
  ): Promise<OpenStreams> {
    const content = `go on [[sim tokens=${tokens} itl-ms=${itlMs}]]`;
    const body = { model: TEST_MODEL.id, messages: [{ role: 'user', content }], stream: true };
    const begin = async (payer: Payer): Promise<{ end: Promise<string> }> => {
      payer.reconciliation.sent += 1;
      const signal = AbortSignal.timeout(DEADLINE_MS);
      const response = await deployment.chat(payer.apiKeys[0], body, { to, signal });
      if (response.status !== 200) throw new Error(`a stream was refused: ${await response.text()}`);
      return { end: endOf(response, payer) };
    };
    const begun = await Promise.all(payers.map(begin));
    return new OpenStreams(begun.map(({ end }) => end));
  }

  /** How each of them ended: `whole`, or the last event that its client received. */
  ended(): Promise<string[]> {
    return Promise.all(this.ends);
  }
}

async function endOf(response: Response, { reconciliation, apiKeys: [apiKey] }: Payer): Promise<string> {
  const { cost, last } = await followed(response);
  if (!cost) return last;
  reconciliation.ended.set(response.headers.get('x-request-id') ?? '', nanoCost(cost));
  reconciliation.spentByKey.set(apiKey, (reconciliation.spentByKey.get(apiKey) ?? 0) + nanoCost(cost).usd);
  return 'whole';
}

/** The cost in the last chunk, if it was received; by then the charge must be durable. */
export async function costOfStream(response: Response): Promise<Cost | undefined> {
  return (await followed(response)).cost;
}

async function followed(response: Response): Promise<{ cost: Cost | undefined; last: string }> {
  let text = '';
  let failure = '';
  try {
    for await (const part of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += part;
      if (text.endsWith('data: [DONE]\n\n')) break;
    }
  } catch (error) {
    // Cut off. The end may have been received nevertheless.
    failure = String(error);
  }
  const events = text.split('\n\n').slice(0, -1);
  if (events.at(-1) !== 'data: [DONE]')
    return { cost: undefined, last: failure || (events.at(-1) ?? 'nothing') };
  const last = events.at(-2);
  const cost = last === undefined ? undefined : (JSON.parse(last.slice('data: '.length)) as Chunk).cost;
  return { cost, last: last ?? 'nothing' };
}
