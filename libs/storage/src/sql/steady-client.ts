import { Client } from 'pg';

/**
 * A connection whose end is told to who uses it by the failure of a query, and by the event `error` to who listens.
 * pg throws that event where nobody listens, past every handler: between two statements of a transaction, between a
 * connection's first breath and the listener's, and while it is being closed.
 */
export class SteadyClient extends Client {
  override emit(event: string | symbol, ...args: unknown[]): boolean {
    if (event === 'error' && this.listenerCount('error') === 0) return false;
    return super.emit(event, ...args);
  }

  /**
   * Lets the server miss this client within half a minute of the loss of the network between them, and not after hours:
   * it ends the session then, with the locks that it has.
   */
  async beMissed(): Promise<void> {
    await this.query(
      'SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3',
    );
  }

  /** Ends the connection without a goodbye, which a server that stands still would not answer. */
  destroy(): void {
    const { connection } = this as unknown as { connection: { stream: { destroy(): void } } };
    connection.stream.destroy();
  }
}
