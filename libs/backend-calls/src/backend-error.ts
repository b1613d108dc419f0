/** A backend responded with an error, by its status or inside a 200. */
export class BackendError extends Error {
  override readonly name = 'BackendError';

  constructor(
    readonly status: number,
    readonly body: string,
    readonly retryAfterSeconds?: number,
  ) {
    super(`backend responded with ${status}`);
  }
}
