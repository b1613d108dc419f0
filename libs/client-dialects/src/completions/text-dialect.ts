import { type Fields, fieldsOf } from '@svc/contracts/inference';
import type { CompletionRequest } from '@svc/api/completions';
import {
  type CompletionHead,
  type ChoiceShape,
  type ChoicePiece,
  type FinishReason,
  type WholeChoice,
  type ClientDialect,
  chatDialect,
  StreamEncoder,
  WholeEncoder,
} from '@svc/text/output';

/** The dialect of text completions: that of chat completions, with choices that are only a text. */
export function textDialect({ prompt, echo }: CompletionRequest): ClientDialect {
  const [text = ''] = [prompt].flat();
  const shape = new TextChoices(echo === true ? text : '');
  // A text has no place for a tool call with search results.
  const without = (about: CompletionHead): CompletionHead => ({ ...about, documents: undefined });
  return {
    ...chatDialect,
    streamed: (client, normaliser, about) => new StreamEncoder(client, normaliser, without(about), shape),
    whole: (client, normaliser, about) => new WholeEncoder(client, normaliser, without(about), shape),
  };
}

/** The choices of one response, each after the prompt if it is to be repeated. */
class TextChoices implements ChoiceShape {
  readonly object = 'text_completion';
  /** Characters of each choice so far. */
  private readonly lengths = new Map<number, number>();

  constructor(private readonly prompt: string) {}

  piece({ index, delta, logprobs, finish_reason: reason }: ChoicePiece): object {
    const finished = reason === null ? null : finishReason(reason);
    return this.choice({ index, content: delta['content'], logprobs, finished });
  }

  whole({ index, message, logprobs, finish_reason: reason }: WholeChoice): object {
    return this.choice({ index, content: message['content'], logprobs, finished: finishReason(reason) });
  }

  private choice({ index, content, logprobs, finished }: TextPiece): object {
    const known = this.lengths.get(index);
    const prompt = known === undefined ? this.prompt : '';
    const offset = (known ?? 0) + prompt.length;
    const text = textOf(content);
    this.lengths.set(index, offset + text.length);
    return {
      index,
      text: prompt + text,
      logprobs: legacyLogprobs(logprobs, offset),
      finish_reason: finished,
    };
  }
}

interface TextPiece {
  readonly index: number;
  readonly content: unknown;
  readonly logprobs: Fields | null | undefined;
  readonly finished: string | null;
}

/** A text, or the text of a list of parts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return fieldsOf(content)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('');
}

/** A completion has no tools, whatever a backend says. */
function finishReason(reason: FinishReason): string {
  return reason === 'tool_calls' ? 'stop' : reason;
}

/** Log probabilities as lists of the same length, with the place of each token in the text. */
function legacyLogprobs(logprobs: Fields | null | undefined, from: number): object | null {
  const tokens = fieldsOf(logprobs?.['content']);
  if (tokens.length === 0) return null;
  let at = from;
  const offsets = tokens.map(({ token }) => {
    const offset = at;
    at += String(token).length;
    return offset;
  });
  return {
    tokens: tokens.map(({ token }) => String(token)),
    token_logprobs: tokens.map(({ logprob }) => Number(logprob)),
    top_logprobs: tokens.map(({ top_logprobs: top }) =>
      Object.fromEntries(fieldsOf(top).map(({ token, logprob }) => [String(token), Number(logprob)])),
    ),
    text_offset: offsets,
  };
}
