import type { ChatResponse, Piece } from '@svc/contracts/inference';
import { Problem } from '@svc/contracts/problems';
import { isEmptyDelta } from './message-texts.js';

/**
 * A response, unless a content filter has ended it before its first output. It has one choice. Refuses:
 * INVALID_REQUEST.
 */
export async function unlessFiltered(source: ChatResponse, idleTimeoutMs: number): Promise<ChatResponse> {
  const arrivals = source.arrivals({ idleTimeoutMs, onRepetition: undefined });
  const begun: Begun[] = [];
  if (!(Symbol.asyncIterator in arrivals)) {
    readAll(arrivals, { source, begun });
    if (isFiltered(begun)) throw filtered();
    return new BegunResponse(source, begun, arrivals);
  }
  const rest = arrivals[Symbol.asyncIterator]();
  try {
    while (!saysSomething(begun)) {
      const next = await rest.next();
      if (next.done === true) break;
      readAll(next.value, { source, begun });
    }
    if (isFiltered(begun)) throw filtered();
  } catch (error) {
    await rest.return?.();
    throw error;
  }
  return new BegunResponse(source, begun, following(begun, rest));
}

/** An event that has been read. */
interface Begun {
  readonly event: string;
  readonly pieces: readonly Piece[];
}

function readAll(
  events: readonly string[],
  { source, begun }: { readonly source: ChatResponse; readonly begun: Begun[] },
): void {
  for (const event of events) begun.push({ event, pieces: source.read(event) });
}

const hasOutput = ({ delta }: Piece): boolean => !isEmptyDelta({ ...delta, role: undefined });

const saysSomething = (begun: readonly Begun[]): boolean =>
  begun.some(({ pieces }) => pieces.some((piece) => piece.end !== null || hasOutput(piece)));

const isFiltered = (begun: readonly Begun[]): boolean =>
  begun.some(({ pieces }) => pieces.some(({ end }) => end === 'content_filter')) &&
  !begun.some(({ pieces }) => pieces.some(hasOutput));

const filtered = (): Problem =>
  new Problem('INVALID_REQUEST', {
    message: 'The content filter of the model has stopped the completion before its beginning.',
    isFiltered: true,
  });

async function* following(
  begun: readonly Begun[],
  rest: AsyncIterator<readonly string[]>,
): AsyncGenerator<readonly string[], void> {
  try {
    yield begun.map(({ event }) => event);
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/** A response of which some events have been read. */
class BegunResponse implements ChatResponse {
  readonly backend: string;
  readonly retries: number;
  readonly repetitions = undefined;
  private readonly pieces: (readonly Piece[])[];

  constructor(
    private readonly source: ChatResponse,
    begun: readonly Begun[],
    private readonly events: ReturnType<ChatResponse['arrivals']>,
  ) {
    this.backend = source.backend;
    this.retries = source.retries;
    this.pieces = begun.map(({ pieces }) => pieces);
  }

  get facts(): ChatResponse['facts'] {
    return this.source.facts;
  }

  arrivals(): ReturnType<ChatResponse['arrivals']> {
    return this.events;
  }

  read(event: string): readonly Piece[] {
    return this.pieces.shift() ?? this.source.read(event);
  }
}
