import { setTimeout as sleep } from 'node:timers/promises';
import { exactTypes } from '@svc/storage';
import { Client, DatabaseError } from 'pg';

const CONNECT_MS = 5_000;
const STATEMENT_MS = 10_000;
const CLOSE_MS = 2_000;

/**
 * The one connection of a process's consumers, which use it in turns. What it has claimed is free again when it ends.
 */
export class ConsumerSession {
  readonly #url: string;
  #client: Promise<Client> | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(url: string) {
    this.#url = url;
  }

  /** Runs `work` on the connection: the same one until it breaks, then a new one. */
  use<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    const result = this.#turn.then(async () => {
      const client = await (this.#client ??= this.#open());
      try {
        return await work(client);
      } catch (error) {
        // Unless the server itself refused a statement, nobody knows what state the connection is in.
        if (!(error instanceof DatabaseError)) await this.#end();
        throw error;
      }
    });
    this.#turn = result.catch(() => undefined);
    return result;
  }

  async close(): Promise<void> {
    await Promise.race([this.#turn, sleep(CLOSE_MS, undefined, { ref: false })]);
    await this.#end();
  }

  #open(): Promise<Client> {
    const client = new Client({
      connectionString: this.#url,
      application_name: 'events (consume)',
      connectionTimeoutMillis: CONNECT_MS,
      statement_timeout: STATEMENT_MS,
      query_timeout: STATEMENT_MS + 2_000,
      keepAlive: true,
      types: exactTypes,
    });
    const opened = client.connect().then(() => client);
    const forget = (): void => {
      if (this.#client === opened) this.#client = undefined;
    };
    client.on('error', forget);
    client.on('end', forget);
    opened.catch(forget);
    return opened;
  }

  async #end(): Promise<void> {
    const opened = this.#client;
    this.#client = undefined;
    const ended = opened?.then((client) => client.end()).catch(() => undefined);
    await Promise.race([ended, sleep(CLOSE_MS, undefined, { ref: false })]);
  }
}
