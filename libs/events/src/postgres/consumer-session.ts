import { within } from '@svc/runtime';
import { ErrorSafeClient, exactTypes } from '@svc/storage';
import { type Client, DatabaseError } from 'pg';

const CLOSE_MS = 2_000;
/** The client times out this much later than the server, so that the server's error is seen. */
const CLIENT_PATIENCE = 1.2;

export interface ConsumerSessionOptions {
  readonly url: string;
  /** The connection's name in `pg_stat_activity`; default: `events (consume)`. */
  readonly name?: string;
  /** Default: 5 s. */
  readonly connectMs?: number;
  /** Default: 10 s. */
  readonly statementMs?: number;
}

/** A connection shared by several consumers, one at a time. Its claims are released when it ends. */
export class ConsumerSession {
  private readonly options: Required<ConsumerSessionOptions>;
  private client: Promise<ErrorSafeClient> | undefined;
  private turn: Promise<unknown> = Promise.resolve();

  constructor(options: ConsumerSessionOptions) {
    this.options = { name: 'events (consume)', connectMs: 5_000, statementMs: 10_000, ...options };
  }

  /** Runs `work` on the connection, which is replaced once it breaks. */
  use<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    const result = this.turn.then(async () => {
      const client = await (this.client ??= this.open());
      try {
        return await work(client);
      } catch (error) {
        // Unless the server rejected a statement, the state of the connection is unknown.
        if (!(error instanceof DatabaseError)) await this.end();
        throw error;
      }
    });
    this.turn = result.catch(() => undefined);
    return result;
  }

  async close(): Promise<void> {
    await within(CLOSE_MS, this.turn).catch(() => undefined);
    await this.end();
  }

  private open(): Promise<ErrorSafeClient> {
    const { url, name, connectMs, statementMs } = this.options;
    const client = new ErrorSafeClient({
      connectionString: url,
      application_name: name,
      connectionTimeoutMillis: connectMs,
      statement_timeout: statementMs,
      query_timeout: statementMs * CLIENT_PATIENCE,
      keepAlive: true,
      types: exactTypes,
    });
    const opened = client
      .connect()
      .then(() => client.enableKeepalive())
      .then(() => client);
    const forget = (): void => {
      if (this.client === opened) this.client = undefined;
    };
    client.on('error', forget);
    client.on('end', forget);
    opened.catch(forget);
    return opened;
  }

  private async end(): Promise<void> {
    const opened = this.client;
    this.client = undefined;
    if (!opened) return;
    const end = opened.then((client) => client.end());
    // Does not wait for a connection that is still being opened or does not close.
    const destroy = (): void => void opened.then((client) => client.destroy()).catch(() => undefined);
    await within(CLOSE_MS, end).catch(destroy);
  }
}
