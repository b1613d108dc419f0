import { createHash } from 'node:crypto';
import type { CompletionRequest } from '@svc/api/completions';
import type { SvcParametersEcho } from '@svc/api/chat';
import type { MessagesRequest } from '@svc/api/messages';
import type { ResponseRequest } from '@svc/api/responses';
import type { ChunkStream, Completion } from '@svc/contracts/inference';
import { NO_USAGE } from '@svc/contracts/messages';
import { Problem } from '@svc/contracts/problems';
import type { ResponseWriter } from '@svc/paid/http';
import { type ClientDialect, chatDialect } from '@svc/text/output';
import { InternalTool, OpenAiOutput, type OutputHold, OutputRelay } from '@svc/text/testing';
import { textDialect } from '../src/completions/text-dialect.js';
import { messageDialect } from '../src/messages/message-dialect.js';
import { ResponsesDialect } from '../src/responses/responses-dialect.js';
import type { BackendCase, Policy } from './backend-streams.js';

const PROMPT = { prompt: 'Say', echo: true } as unknown as CompletionRequest;
const THINKS = {
  thinking: { type: 'enabled', budget_tokens: 1_024 },
  stop_sequences: ['END'],
} as unknown as MessagesRequest;
const TOOLS = {
  model: 'm',
  tools: [{ type: 'custom', name: 'c' }],
  reasoning: { summary: 'auto' },
} as unknown as ResponseRequest;

/** The dialects of clients, each made for one response. */
const CLIENTS: readonly (() => ClientDialect)[] = [
  () => chatDialect,
  () => textDialect(PROMPT),
  () => messageDialect(THINKS, 'r'),
  () => new ResponsesDialect(TOOLS, 'r'),
];

const FOUND = [{ title: 'A', url: 'https://a.example', content: 'text' }];

function aboutOf({ isSearched, usageApart }: Policy) {
  const parameters = {
    web_search_citations: isSearched ? FOUND : [],
    enable_x_search: !isSearched,
  } as unknown as SvcParametersEcho;
  const documents = { id: 'call_d', type: 'function', function: { name: 'docs', arguments: '{}' } } as const;
  const results = isSearched ? { resultsFirst: true, documents } : {};
  return { id: 'c_1', model: 'm', promptTokens: 3, parameters, usageApart, ...results };
}

function outputOf({ strip, startsInside, sources, tool, isEncrypted }: Policy): OpenAiOutput {
  return new OpenAiOutput({
    thinking: { strip, startsInside },
    tokenizer: undefined,
    sources,
    tool: tool === undefined ? undefined : new InternalTool('search', tool),
    isEncrypted,
  });
}

/** Extends itself by one token at a time, up to what is covered. */
function holdOf(coveredTokens: number): OutputHold {
  let askAt = 2;
  return {
    refusal: new Problem('INSUFFICIENT_BALANCE'),
    isAhead: ({ tokens }) => tokens < askAt,
    hasRoomFor: (bytes, meter) => meter.tokensWith(bytes) < askAt,
    reach: async ({ tokens }) => {
      await Promise.resolve();
      askAt = tokens + 2;
      return tokens > coveredTokens ? 'out_of_money' : undefined;
    },
  };
}

/** Parts that arrive one after the other, each of them offered first while a read waits. */
class OfferedParts implements AsyncIterableIterator<readonly Uint8Array[]> {
  private at = 0;
  private take: ((part: Buffer) => boolean) | undefined;

  constructor(private readonly parts: readonly Buffer[]) {}

  offerTo(take: (part: Buffer) => boolean): void {
    this.take = take;
  }

  async next(): Promise<IteratorResult<readonly Uint8Array[]>> {
    for (;;) {
      await Promise.resolve();
      const part = this.parts[this.at];
      this.at += 1;
      if (!part) return { value: undefined, done: true };
      // Two parts together, now and then.
      const more = this.at % 3 === 0 ? this.parts[this.at] : undefined;
      if (more) {
        this.at += 1;
        return { value: [part, more], done: false };
      }
      if (this.take?.(part) !== true) return { value: [part], done: false };
    }
  }

  return(): Promise<IteratorResult<readonly Uint8Array[]>> {
    this.at = this.parts.length;
    return Promise.resolve({ value: undefined, done: true });
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

function sourceOf({ parts, isBody }: BackendCase): Completion | ChunkStream {
  const served = { backend: 'b', retries: 0 };
  return isBody
    ? { ...served, body: Buffer.concat(parts).toString() }
    : { ...served, bytes: new OfferedParts(parts) };
}

/** What a client gets of a backend's response, and everything that was counted and found out on the way. */
async function served(dialect: ClientDialect, isStream: boolean, given: BackendCase): Promise<string> {
  const output = outputOf(given.policy);
  const { normaliser } = output;
  let sent = '';
  const write = (text: string): undefined => void (sent += text);
  const writer = { isGone: false, begin: () => undefined, write, end: write, send: write };
  const form = isStream ? dialect.streamed.bind(dialect) : dialect.whole.bind(dialect);
  const encoder = form(writer as unknown as ResponseWriter, normaliser, aboutOf(given.policy));
  const hold = isStream || given.coveredTokens < Infinity ? holdOf(given.coveredTokens) : undefined;
  const relay = new OutputRelay({
    source: output.responseOf(sourceOf(given)),
    normaliser,
    hold,
    encoder,
    idleTimeoutMs: 60_000,
  });
  const facts: unknown[] = [];
  try {
    const ending = await relay.deliver();
    const { meter, reported, received } = normaliser.counts;
    const usage = { ...NO_USAGE, promptTokens: 3, completionTokens: meter.deliveredTokens, ...reported };
    const problem = 'problem' in ending ? [ending.problem?.code, String(ending.problem?.cause)] : undefined;
    // What was not delivered is not charged.
    const isWhole = ending.kind === 'done';
    const counted = isWhole && [meter.pieces, meter.bytes, meter.tokensAtLeast, received];
    facts.push(
      ending.kind,
      problem,
      counted,
      meter.deliveredTokens,
      reported,
      normaliser.facts.unknownFinish,
    );
    facts.push(relay.calledBefore(ending)?.messageWith('{}'), relay.isBegun, normaliser.tool?.hidesAll);
    const cost = { usdNano: 5n, diemNano: 0n };
    await encoder.end({ ending, usage, cost, hasOutput: usage.completionTokens > 0 });
  } catch (error) {
    const { code, cause } = Problem.from(error);
    facts.push(code, String(cause), normaliser.counts.received);
  }
  return `${sent}\n${JSON.stringify(facts)}`
    .replaceAll(/svc1\.([\w-]+)/g, (_, sealed: string) => Buffer.from(sealed, 'base64url').toString())
    .replaceAll(/call_[0-9a-f]{24}/g, 'call_made')
    .replaceAll(/("(?:created|created_at|completed_at)":)\d+/g, '$10');
}

/** A short digest of what every client gets of a case. */
export async function digestsOf(given: BackendCase): Promise<string> {
  const digests: string[] = [];
  for (const client of CLIENTS)
    for (const isStream of [true, false]) digests.push(digestOf(await served(client(), isStream, given)));
  return digests.join(' ');
}

const digestOf = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 8);
