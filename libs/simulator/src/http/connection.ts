import type { OutgoingHttpHeaders, ServerResponse } from 'node:http';

/** The client closed the connection before the response was complete. */
export class ClientGone extends Error {}

/** The limit of every wait for a client, a slot or a fault. */
export const MAX_WAIT_MS = 600_000;

/** The response side of one request. Every wait on it ends when the client disconnects. */
export class ClientConnection {
  private isGone = false;
  private isDropped = false;
  private wake: (() => void) | undefined;

  /** `onGone` is called once if the client disconnects before the response is complete. */
  constructor(
    readonly response: ServerResponse,
    onGone: () => void,
  ) {
    response.once('close', () => {
      this.isGone = true;
      if (!response.writableFinished && !this.isDropped) onGone();
      this.wake?.();
    });
  }

  /**
   * Waits until `subscribe`'s callback is called (true) or `maxMs` has passed (false). Throws `ClientGone`.
   * The function returned by `subscribe` undoes the subscription.
   */
  pause(maxMs: number, subscribe?: (resume: () => void) => () => unknown): Promise<boolean> {
    return new Promise((resolve, reject) => {
      if (this.isGone) return reject(new ClientGone());
      const finish = (settle: () => void): void => {
        clearTimeout(timer);
        this.wake = undefined;
        unsubscribe?.();
        settle();
      };
      const unsubscribe = subscribe?.(() => finish(() => resolve(true)));
      const timer = setTimeout(() => finish(() => resolve(false)), maxMs);
      this.wake = () => finish(() => reject(new ClientGone()));
    });
  }

  /** Waits until `performance.now()` is at least `dueMs`. Throws `ClientGone`. */
  async until(dueMs: number): Promise<void> {
    // Timers may fire slightly early by this clock, hence the loop.
    for (let left = dueMs - performance.now(); left > 0; left = dueMs - performance.now())
      await this.pause(Math.ceil(left));
  }

  /** Sends the head of a stream immediately. */
  openStream(headers: OutgoingHttpHeaders): void {
    this.response.writeHead(200, headers);
    this.response.flushHeaders();
  }

  /** Writes, and waits while the client reads more slowly than data is written. Throws `ClientGone`. */
  async write(data: string | Buffer): Promise<void> {
    if (this.isGone) throw new ClientGone();
    if (this.response.write(data)) return;
    const { response } = this;
    const isDrained = await this.pause(MAX_WAIT_MS, (resume) => {
      response.once('drain', resume);
      return () => response.off('drain', resume);
    });
    if (!isDrained) this.drop();
  }

  /** Writes and waits until the bytes are sent to the network, so that they form separate writes. */
  async writeThrough(data: string | Buffer): Promise<void> {
    await this.pause(MAX_WAIT_MS, (resume) => {
      this.response.write(data, resume);
      return () => undefined;
    });
    // Lets the pending corked output go before the next write.
    await this.turn();
  }

  /** Waits for a turn of the event loop. Throws `ClientGone`. */
  async turn(): Promise<void> {
    await this.pause(MAX_WAIT_MS, (resume) => {
      const immediate = setImmediate(resume);
      return () => clearImmediate(immediate);
    });
  }

  /** Sends nothing until the client disconnects or the longest wait is over. */
  async stall(): Promise<never> {
    await this.pause(MAX_WAIT_MS);
    this.drop();
    throw new ClientGone();
  }

  /** Closes the connection from this side, which does not count as a cancellation. */
  drop(isReset = false): void {
    this.isDropped = true;
    const { socket } = this.response;
    if (isReset) socket?.resetAndDestroy();
    else this.response.destroy();
  }

  /** Sends a complete JSON response. */
  sendJson(status: number, json: string, headers: OutgoingHttpHeaders = {}): void {
    if (this.isGone || this.response.headersSent) return;
    this.response.writeHead(status, {
      'content-type': 'application/json; charset=utf-8',
      'content-length': Buffer.byteLength(json),
      ...headers,
    });
    this.response.end(json);
  }
}
