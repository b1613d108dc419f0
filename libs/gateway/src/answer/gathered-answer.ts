import { type ChunkStream, Problem, type Usage } from '@svc/contracts';
import type { AnswerContext } from './answer.js';
import { eventsOf } from './backend-events.js';
import { type Fields, backendError, choiceIndex, fieldsOf, parseBackendJson } from '../json/backend-json.js';
import { Coverage, type Shortage } from '../holds/coverage.js';
import { GatheredChoice } from './gathered-choice.js';
import { Meter } from '../tokens/meter.js';
import { readUsage } from './usage-reading.js';

/** Characters that a backend may send for an answer that is not streamed to the client. */
const LIMIT_CHARACTERS = 67_108_864;

/** An answer that its backend streamed, whole. */
export interface Gathered {
  /** As the backend would have written it in one piece. */
  readonly answer: Fields;
  readonly reported: Usage | undefined;
  readonly meter: Meter;
  /** What ended it before its backend did; its choices have ended with `length`. */
  readonly shortage: Shortage | undefined;
}

/**
 * Puts a streamed answer together, holding money ahead of its tokens. Refuses what the backend refuses, and as a hold
 * does when there is no money for anything that could be delivered.
 */
export async function gather(stream: ChunkStream, context: AnswerContext): Promise<Gathered> {
  const { ticket, plan, tokenizer } = context;
  const gathering = new Gathering(new Meter(tokenizer), new Coverage(ticket, plan));
  const shortage = await gathering.run(stream);
  const { meter, reported } = gathering;
  if (shortage === 'out_of_money' && meter.deliveredTokens === 0)
    throw ticket.refusal ?? new Problem('INSUFFICIENT_BALANCE');
  return { answer: gathering.whole(shortage), reported, meter, shortage };
}

class Gathering {
  reported: Usage | undefined;
  private readonly members: Fields = {};
  private readonly choices = new Map<number, GatheredChoice>();
  private characters = 0;

  constructor(
    readonly meter: Meter,
    private readonly coverage: Coverage,
  ) {}

  /** Reads to the end, or to where money ends: whoever stops reading lets the backend go. */
  async run(stream: ChunkStream): Promise<Shortage | undefined> {
    for await (const events of eventsOf(stream)) {
      for (const event of events) {
        const shortage = await this.take(event);
        if (shortage) return shortage;
      }
    }
    return undefined;
  }

  whole(shortage: Shortage | undefined): Fields {
    const choices = Array.from(this.choices.values(), (choice) => choice.whole());
    if (shortage) for (const choice of choices) choice['finish_reason'] ??= 'length';
    return { ...this.members, choices: choices.toSorted((a, b) => Number(a['index']) - Number(b['index'])) };
  }

  private async take(event: string): Promise<Shortage | undefined> {
    this.characters += event.length;
    if (this.characters > LIMIT_CHARACTERS)
      throw new Problem('INFERENCE_FAILED', { cause: new Error('the answer is larger than its limit') });
    const { choices, usage, ...members } = parseBackendJson(event);
    if (members['error']) throw backendError(members['error']);
    if (members['object'] === 'error') throw backendError(members);
    this.reported = readUsage(usage) ?? this.reported;
    for (const [name, value] of Object.entries(members)) if (value !== null) this.members[name] = value;
    const pieces = fieldsOf(choices).flatMap((choice) => this.placed(choice));
    for (const { into, delta } of pieces) this.meter.addMessage(delta, into.index);
    const shortage = this.coverage.isAhead(this.meter) ? undefined : await this.coverage.reach(this.meter);
    if (shortage) return shortage;
    this.meter.deliver();
    for (const { into, choice, delta } of pieces) into.add(choice, delta);
    return undefined;
  }

  private placed(choice: Fields): { into: GatheredChoice; choice: Fields; delta: Fields }[] {
    const index = choiceIndex(choice['index'], 0);
    const into = this.choices.get(index) ?? new GatheredChoice(index);
    this.choices.set(index, into);
    return into.isFinished ? [] : [{ into, choice, delta: into.placed(choice) }];
  }
}
