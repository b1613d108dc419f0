import { randomUUID } from 'node:crypto';
import type { AroundText, WrittenPiece } from '@svc/contracts/inference';

/** Stands for the text of a piece. It needs no escapes in JSON and occurs in no response. */
const PLACEHOLDER = randomUUID();

/** The JSON of a piece, as the only choice of a chunk, before and after its text. */
export function aroundText(piece: WrittenPiece, member: string): AroundText | undefined {
  // Only the first delta of a choice has a role.
  if (piece.delta['role'] !== undefined) return undefined;
  const json = JSON.stringify([{ ...piece, delta: { ...piece.delta, [member]: PLACEHOLDER } }]);
  const [before, after, more] = json.split(PLACEHOLDER);
  return before === undefined || after === undefined || more !== undefined ? undefined : [before, after];
}
