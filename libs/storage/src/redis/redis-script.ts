import { createHash } from 'node:crypto';
import { neighbours } from '@svc/telemetry';
import { type Cluster, type Redis, ReplyError } from 'ioredis';

/** The input of a script. Redis requires keys and arguments to be separate. */
export interface ScriptCall {
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

type Run = (keyCount: number, ...keysAndArgs: (string | number)[]) => Promise<unknown>;

/**
 * A Lua script on a Redis server, or on the cluster node that has the keys: one round trip per run. Its text
 * is sent once per connection, and again to a server that has lost it.
 */
export class RedisScript {
  private readonly call: Run;

  constructor(redis: Redis | Cluster, lua: string) {
    const name = `script:${createHash('sha1').update(lua).digest('hex')}`;
    redis.defineCommand(name, { lua });
    const commands = redis as unknown as Record<string, Run>;
    const call: Run = (...args) => (commands[name] as Run).apply(redis, args);
    this.call = call;
  }

  /** Rejects if the server can't be reached or the script fails. */
  async run({ keys, args }: ScriptCall): Promise<unknown> {
    const startMs = performance.now();
    let fault = '';
    try {
      return await this.call(keys.length, ...keys, ...args);
    } catch (error) {
      fault = error instanceof ReplyError ? 'refused' : 'connection';
      throw error;
    } finally {
      neighbours.database.record((performance.now() - startMs) / 1_000, 'redis', 'script', fault);
    }
  }
}
