import { Client } from 'pg';

/**
 * A connection whose end fails the next query, and emits `error` only if there is a listener. Without one, pg
 * would throw past every handler: between two statements of a transaction, between the opening of a
 * connection and its first listener, and while it is being closed.
 */
export class ErrorSafeClient extends Client {
  override emit(event: string | symbol, ...args: unknown[]): boolean {
    if (event === 'error' && this.listenerCount('error') === 0) return false;
    return super.emit(event, ...args);
  }

  /**
   * The server ends the session, and frees its locks, within 30 s of losing the network instead of hours.
   */
  async enableKeepalive(): Promise<void> {
    await this.query(
      'SET tcp_keepalives_idle = 10; SET tcp_keepalives_interval = 5; SET tcp_keepalives_count = 3',
    );
  }

  /** Closes the connection without the protocol's farewell, to which a stalled server would not respond. */
  destroy(): void {
    const { connection } = this as unknown as { connection: { stream: { destroy(): void } } };
    connection.stream.destroy();
  }
}
