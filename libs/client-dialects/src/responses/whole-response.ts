import { type Fields, fieldsOf, isFields } from '@svc/contracts/inference';
import type { UrlCitation } from '@svc/api/responses';
import {
  type ResponseEncoder,
  type ChargedOutput,
  type CompletionHead,
  AssembledChoice,
  type ChoicePiece,
  type WholeChoice,
  type OutputNormaliser,
} from '@svc/text/output';
import type { ResponseWriter } from '@svc/paid/http';
import { toolNamed } from './offered-tools.js';
import { type WrittenCall, callItem, itemId, logprobsIn, searchItem, textItem } from './output-items.js';
import { type ResponseHead, type ResponseOptions, endOf, statusOf } from './response-head.js';
import { encodedSignatures } from './signatures.js';
import { UrlCitations, citedSources } from './url-citations.js';

type Parts = ResponseOptions & { readonly head: ResponseHead };

/** Writes a response as one document. */
export class WholeResponse implements ResponseEncoder {
  readonly isLive = false;
  readonly repeating = undefined;
  private readonly choice = new AssembledChoice(0);

  constructor(
    private readonly writer: Pick<ResponseWriter, 'send' | 'isGone'>,
    private normaliser: OutputNormaliser,
    private about: CompletionHead,
    private readonly parts: Parts,
  ) {}

  get isGone(): boolean {
    return this.writer.isGone;
  }

  continueWith(normaliser: OutputNormaliser, about: CompletionHead): void {
    this.normaliser = normaliser;
    this.about = about;
  }

  add(pieces: readonly ChoicePiece[]): void {
    for (const piece of pieces) this.choice.add(piece);
  }

  flush(): undefined {
    return undefined;
  }

  end(settled: ChargedOutput): Promise<void> | undefined {
    this.add(this.normaliser.finish(settled.ending.kind === 'done' ? 'stop' : 'length'));
    const whole = this.choice.whole();
    const output = this.itemsOf(whole, settled.hasOutput);
    const end = endOf(settled, this.about, this.normaliser.facts.citedUrls);
    return this.writer.send(JSON.stringify(this.parts.head.ended(whole.finish_reason, output, end)));
  }

  private itemsOf({ message, logprobs, finish_reason: reason }: WholeChoice, hasOutput: boolean): object[] {
    const { about, parts } = this;
    const items: object[] = [];
    const status = statusOf(reason);
    const add = (kind: Parameters<typeof itemId>[0], item: (id: string) => object | undefined): void => {
      const made = item(itemId(kind, about.id, items.length));
      if (made) items.push(made);
    };
    if (hasOutput) add('search', (id) => searchItem(id, 'completed', about.parameters));
    const { reasoning_content: thought, content, refusal } = message;
    const signed = encodedSignatures(message);
    const kind = parts.summarises ? 'summary' : 'reasoning';
    const shown = { text: textOf(thought), logprobs: [], citations: [] };
    if (shown.text !== '' || signed !== null)
      add('reasoning', (id) => textItem(id, 'completed', { kind, ...shown, signed }));
    const rest = { logprobs: logprobsIn(logprobs), citations: [], signed: null };
    const text = textOf(content);
    const citations = citationsIn(text, about);
    if (text !== '') add('text', (id) => textItem(id, status, { kind: 'content', ...rest, text, citations }));
    if (textOf(refusal) !== '')
      add('text', (id) => textItem(id, status, { kind: 'refusal', text: textOf(refusal), ...rest }));
    const documents = hasOutput && about.documents ? [{ ...about.documents }] : [];
    for (const call of [...documents, ...fieldsOf(message['tool_calls'])].map((each) => this.callOf(each)))
      add(call.tool.isCustom ? 'custom' : 'call', (id) => callItem(id, status, call));
    return items;
  }

  private callOf(call: Fields): WrittenCall {
    const called = isFields(call['function']) ? call['function'] : {};
    const name = textOf(called['name']);
    return {
      callId: textOf(call['id']),
      tool: toolNamed(name, this.parts.tools),
      text: textOf(called['arguments']),
      extra: call['extra_content'],
    };
  }
}

function citationsIn(text: string, { parameters }: CompletionHead): readonly UrlCitation[] {
  const sources = citedSources(parameters);
  return sources ? new UrlCitations(sources).read(text) : [];
}

/** A text, or the text of a list of parts. */
function textOf(content: unknown): string {
  if (typeof content === 'string') return content;
  return fieldsOf(content)
    .map(({ text }) => (typeof text === 'string' ? text : ''))
    .join('');
}
