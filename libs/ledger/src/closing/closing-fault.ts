/** Why a month can't be closed. */
export class ClosingFault extends Error {
  override readonly name = 'ClosingFault';
}
