import type { Fields } from '@svc/contracts/inference';
import type { SvcParametersEcho } from '@svc/api/chat';
import type { UrlCitation } from '@svc/api/responses';
import { unescapedJson } from '@svc/runtime';
import { AssembledChoice } from '@svc/text/output';
import { type EventWriter, eventStart } from './event-writer.js';
import type { OfferedTools } from './offered-tools.js';
import {
  type ItemStatus,
  type TextKind,
  isReasoning,
  itemId,
  partWith,
  searchItem,
  textItem,
} from './output-items.js';
import { StreamedCall } from './streamed-call.js';
import { encodedSignatures } from './signatures.js';
import { UrlCitations, citedSources } from './url-citations.js';

/** A text that is being written. */
interface OpenText {
  readonly kind: TextKind;
  readonly id: string;
  readonly at: number;
  /** The beginning of each event that adds to it. */
  readonly deltaStart: string;
  /** The text so far, as the content of a JSON string. */
  json: string;
  readonly logprobs: Fields[];
  /** Of the text that the model writes after a search that it cites. */
  readonly citations: UrlCitations | undefined;
}

const NONE: readonly UrlCitation[] = [];

const DELTAS = {
  content: 'response.output_text',
  refusal: 'response.refusal',
  reasoning: 'response.reasoning_text',
  summary: 'response.reasoning_summary_text',
} as const satisfies Record<TextKind, string>;

/** The items of a streamed response. One text is open at a time; calls stay open until the end. */
export class StreamedItems {
  private readonly done: object[] = [];
  private count = 0;
  private open: OpenText | undefined;
  private readonly calls = new Map<number, StreamedCall>();
  /** Those of the calls that have not begun. */
  private readonly waiting: StreamedCall[] = [];
  /** The sources of the citations in the next texts. */
  private sources: ReturnType<typeof citedSources>;
  /** The backend's signatures that no item contains yet. */
  private signed: AssembledChoice | undefined;

  constructor(
    private readonly events: EventWriter,
    private readonly responseId: string,
    private readonly tools: OfferedTools,
  ) {}

  addText(kind: TextKind, json: string, logprobs: readonly Fields[] = []): void {
    if (this.open?.kind !== kind) this.close('completed');
    const open = (this.open ??= this.begin(kind));
    open.json += json;
    if (logprobs.length === 0) {
      this.events.addText(open.deltaStart, json);
    } else {
      for (const each of logprobs) open.logprobs.push(each);
      const delta = unescapedJson(json);
      this.events.add(`${DELTAS[kind]}.delta`, { ...placeOf(open), delta, logprobs });
    }
    if (open.citations) this.addCitations(open.citations, open, json);
  }

  /** Keeps a backend's signatures of its reasoning for the item of the reasoning. */
  addSignatures(kind: TextKind, { reasoning_details: details, thought_signature: signature }: Fields): void {
    if (isNothing(details) && isNothing(signature)) return;
    this.signed ??= new AssembledChoice(0);
    // Copied, since the assembly changes the entries of a list.
    const delta = structuredClone({ reasoning_details: details, thought_signature: signature });
    const ended = { logprobs: null, finish_reason: null, stop_reason: undefined };
    this.signed.add({ index: 0, delta, ...ended });
    if (!this.open && this.count === 0) this.open = this.begin(kind);
  }

  addCall(fragment: Fields): void {
    const index = Number(fragment['index']);
    let call = this.calls.get(index);
    if (!call) {
      call = new StreamedCall(this.events, this.tools);
      this.calls.set(index, call);
      this.waiting.push(call);
    }
    call.take(fragment);
    // In order: clients list items as they begin, so a call without a name delays those after it.
    while (this.waiting[0]?.canBegin === true) {
      this.close('completed');
      this.waiting.shift()?.begin(this.responseId, this.count++);
    }
  }

  /** Adds a call that is complete. */
  addWholeCall(call: Fields): void {
    this.close('completed');
    const whole = new StreamedCall(this.events, this.tools);
    whole.take(call);
    whole.begin(this.responseId, this.count++);
    this.keep(whole.end('completed'));
  }

  addSearch(parameters: SvcParametersEcho): void {
    this.close('completed');
    this.sources = citedSources(parameters);
    const [at, id] = [this.count, itemId('search', this.responseId, this.count)];
    const begun = searchItem(id, 'in_progress', parameters);
    const item = searchItem(id, 'completed', parameters);
    if (!begun || !item) return;
    this.count += 1;
    const place = { item_id: id, output_index: at };
    this.events.add('response.output_item.added', { output_index: at, item: begun });
    for (const state of ['in_progress', 'searching', 'completed'])
      this.events.add(`response.web_search_call.${state}`, place);
    this.events.add('response.output_item.done', { output_index: at, item });
    this.keep({ at, item });
  }

  /** Ends all items; the last one with the status of the response. */
  end(status: ItemStatus): readonly object[] {
    this.close(status);
    for (const call of this.calls.values()) {
      if (!call.isBegun) call.begin(this.responseId, this.count++);
      this.keep(call.end(status));
    }
    this.calls.clear();
    if (this.signed) {
      this.open = this.begin('reasoning');
      this.close('completed');
    }
    return this.done;
  }

  private begin(kind: TextKind): OpenText {
    const at = this.count++;
    const id = itemId(isReasoning(kind) ? 'reasoning' : 'text', this.responseId, at);
    const place = placeOf({ kind, id, at });
    this.events.add('response.output_item.added', {
      output_index: at,
      item: textItem(id, 'in_progress', { kind }),
    });
    const part = partWith(kind, '');
    this.events.add(`response.${partName(kind)}.added`, { ...place, part });
    const known = kind === 'content' ? { ...place, logprobs: [] } : place;
    const deltaStart = eventStart(`${DELTAS[kind]}.delta`, known, 'delta');
    const citations = kind === 'content' && this.sources ? new UrlCitations(this.sources) : undefined;
    return { kind, id, at, deltaStart, json: '', logprobs: [], citations };
  }

  private addCitations(citations: UrlCitations, open: OpenText, json: string): void {
    const before = citations.all.length;
    for (const [index, annotation] of citations.read(unescapedJson(json)).entries())
      this.events.add('response.output_text.annotation.added', {
        ...placeOf(open),
        annotation_index: before + index,
        annotation,
      });
  }

  private close(status: ItemStatus): void {
    const { open } = this;
    if (!open) return;
    this.open = undefined;
    const { kind, id, at, logprobs } = open;
    const citations = open.citations?.all ?? NONE;
    const place = placeOf(open);
    const text = unescapedJson(open.json);
    const whole = kind === 'refusal' ? { refusal: text } : { text };
    this.events.add(`${DELTAS[kind]}.done`, { ...place, ...whole, ...(kind === 'content' && { logprobs }) });
    const part = partWith(kind, text, { logprobs, citations });
    this.events.add(`response.${partName(kind)}.done`, { ...place, part });
    const signed = isReasoning(kind) ? this.takeSignatures() : null;
    const written = { kind, text, logprobs, citations, signed };
    const item = textItem(id, isReasoning(kind) ? 'completed' : status, written);
    this.events.add('response.output_item.done', { output_index: at, item });
    this.keep({ at, item });
  }

  private takeSignatures(): string | null {
    const { signed } = this;
    this.signed = undefined;
    return signed ? encodedSignatures(signed.whole().message) : null;
  }

  private keep({ at, item }: { readonly at: number; readonly item: object }): void {
    this.done[at] = item;
  }
}

const isNothing = (value: unknown): boolean => value === undefined || value === null;

const partName = (kind: TextKind): string => (kind === 'summary' ? 'reasoning_summary_part' : 'content_part');

/** Where a text is: a summary has its own numbering. */
function placeOf({ kind, id, at }: Pick<OpenText, 'kind' | 'id' | 'at'>): object {
  return {
    item_id: id,
    output_index: at,
    ...(kind === 'summary' ? { summary_index: 0 } : { content_index: 0 }),
  };
}
