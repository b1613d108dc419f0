import { createHash } from 'node:crypto';
import type { Redis } from 'ioredis';

/** What a script is given. Keys are named apart from arguments, as Redis wants it. */
export interface ScriptCall {
  readonly keys: readonly string[];
  readonly args: readonly (string | number)[];
}

/** A Lua script on a Redis server: one round trip a run, and the text goes over the wire once. */
export class RedisScript {
  private readonly digest: string;
  private loading: Promise<unknown> | undefined;

  constructor(
    private readonly redis: Redis,
    private readonly lua: string,
  ) {
    this.digest = createHash('sha1').update(lua).digest('hex');
  }

  /** Rejects when the server can't be asked, or when the script fails. */
  async run({ keys, args }: ScriptCall): Promise<unknown> {
    try {
      return await this.redis.evalsha(this.digest, keys.length, ...keys, ...args);
    } catch (error) {
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
    }
    // A server that was restarted knows no scripts: those who notice it at once load it once.
    this.loading ??= this.redis.script('LOAD', this.lua).finally(() => (this.loading = undefined));
    await this.loading;
    return this.redis.evalsha(this.digest, keys.length, ...keys, ...args);
  }
}
