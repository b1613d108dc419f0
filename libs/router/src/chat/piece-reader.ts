import type { Piece, Repetition, Repetitions, ResponseFacts } from '@svc/contracts/inference';

/** The members of a piece that only some dialects have. */
export const PLAIN_PIECE = {
  logprobs: undefined,
  stopReason: undefined,
  tokenIds: undefined,
  isWhole: false,
  parts: undefined,
};

/** Reads one response of a backend: one for each, since it keeps the state of the response. */
export interface PieceReader extends ResponseFacts {
  /** Whether every choice that began has ended, so that the response may end here. */
  readonly isFinished: boolean;
  /** Undefined for a dialect whose events are all read. */
  readonly repetitions: EventRepetitions | undefined;
  /** The pieces of a whole body, or of the data of an event. Throws an error that the backend reports. */
  read(event: string): readonly Piece[];
}

/** Repetitions that are found in bytes, too. */
export interface EventRepetitions extends Repetitions {
  /** Offers the repetition in bytes that are one event, if it is plain ASCII. */
  offer(bytes: Buffer, take: (repetition: Repetition) => boolean): boolean;
}
