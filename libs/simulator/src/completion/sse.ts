import type { SimulatedFinish, CompletionStep } from './compose-completion.js';
import type { EncryptedExchange } from '../enclave/encrypted-exchange.js';
import type { FaultName } from '../request/faults.js';
import { contentLogprob } from './logprobs.js';

export interface ChunkHead {
  readonly id: string;
  readonly created: number;
  readonly model: string;
}

export interface ChunkFormat {
  readonly includeUsage: boolean;
  /** Alternatives per token; undefined without logprobs. */
  readonly topLogprobs: number | undefined;
  readonly reasoningDetails: boolean;
  readonly faults: ReadonlySet<FaultName>;
  /** Set if texts are encrypted. */
  readonly encrypted: EncryptedExchange | undefined;
}

/** Formats the events of one stream. Events that do not depend on a token are formatted once. */
export class ChunkText {
  private readonly start: string;
  private readonly choices: string;
  private readonly tail: string;
  private readonly lineEnd: string;
  private readonly isOdd: boolean;

  constructor(
    head: ChunkHead,
    readonly format: ChunkFormat,
  ) {
    const fields = {
      id: head.id,
      object: 'chat.completion.chunk',
      created: head.created,
      model: head.model,
      system_fingerprint: 'sim',
    };
    this.start = JSON.stringify(fields).slice(0, -1);
    this.choices = `${this.start},"choices":[{"index":`;
    this.tail = format.includeUsage ? '}],"usage":null}' : '}]}';
    this.lineEnd = format.faults.has('crlf') ? '\r\n' : '\n';
    this.isOdd = format.faults.has('comments') || format.faults.has('multi-line');
  }

  /** The first event of a choice. */
  role(choice: number): string {
    return this.delta(choice, '{"role":"assistant","content":""}');
  }

  /** One token. */
  step(choice: number, step: CompletionStep, position: number): string {
    const { topLogprobs } = this.format;
    if (step.kind !== 'content' || topLogprobs === undefined) return this.delta(choice, this.deltaOf(step));
    const content = [contentLogprob(step.text, position, topLogprobs)];
    return this.delta(choice, this.deltaOf(step), JSON.stringify({ content, refusal: null }));
  }

  /** The event that ends a choice. */
  finish(choice: number, reason: SimulatedFinish): string {
    return this.event(
      `${this.choices}${choice},"delta":{},"logprobs":null,"finish_reason":"${reason}"${this.tail}`,
    );
  }

  /** The event that carries the usage. */
  usage(usage: object): string {
    return this.event(`${this.start},"choices":[],"usage":${JSON.stringify(usage)}}`);
  }

  /** The end of the stream. */
  done(): string {
    return `data: [DONE]${this.lineEnd}${this.lineEnd}`;
  }

  /** One event with this data. */
  event(json: string): string {
    const end = this.lineEnd;
    if (!this.isOdd) return `data: ${json}${end}${end}`;
    const comment = this.format.faults.has('comments')
      ? `: keep-alive${end}${end}: another comment${end}`
      : '';
    // A line break is white space between the tokens of JSON, so the joined lines parse to the same value.
    const data = this.format.faults.has('multi-line')
      ? `${json.slice(0, 1)}${end}data: ${json.slice(1)}`
      : json;
    return `${comment}data: ${data}${end}${end}`;
  }

  private delta(choice: number, delta: string, logprobs = 'null'): string {
    return this.event(
      `${this.choices}${choice},"delta":${delta},"logprobs":${logprobs},"finish_reason":null${this.tail}`,
    );
  }

  private deltaOf(step: CompletionStep): string {
    switch (step.kind) {
      case 'content':
        return `{"content":${JSON.stringify(this.written(step.text))}}`;
      case 'reasoning':
        return this.reasoningDelta(step.text);
      case 'tool-start': {
        const fn = { name: step.name, arguments: '' };
        return JSON.stringify({
          tool_calls: [{ index: step.call, id: step.id, type: 'function', function: fn }],
        });
      }
      case 'tool-arguments':
        return `{"tool_calls":[{"index":${step.call},"function":{"arguments":${JSON.stringify(step.text)}}}]}`;
    }
  }

  private written(text: string): string {
    return this.format.encrypted?.seal(text) ?? text;
  }

  private reasoningDelta(text: string): string {
    const { reasoningDetails, encrypted } = this.format;
    if (!reasoningDetails || encrypted) return `{"reasoning_content":${JSON.stringify(this.written(text))}}`;
    return JSON.stringify({ reasoning_content: text, reasoning_details: [reasoningDetail(text)] });
  }
}

/** One entry of `reasoning_details`. */
export function reasoningDetail(text: string): object {
  return { type: 'reasoning.text', text, format: 'sim-v1', index: 0 };
}
