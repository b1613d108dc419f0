import { spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DetachedServer, type Program } from './detached-server.js';
import { responds } from './ports.js';
import { ownPassword } from './private-files.js';

const PROGRAM = 'redis-server';
const MISSING = `${PROGRAM} is not on the PATH. Install it (Debian and Ubuntu: apt-get install -y redis-server; macOS: brew install redis), or set REDIS_URL to a server that runs elsewhere.`;

/** A Redis without persistence: its data may be lost at any time, as the platform must tolerate. */
export class RedisServer extends DetachedServer {
  readonly variable = 'REDIS_URL';
  protected readonly portCount = 1;

  protected async program([port]: readonly number[]): Promise<Program> {
    if (spawnSync(PROGRAM, ['--version'], { timeout: 10_000 }).status !== 0) throw new Error(MISSING);
    const password = await ownPassword(this.folder);
    const lines = [
      `port ${port}`,
      'bind 127.0.0.1',
      `requirepass ${password}`,
      'save ""',
      'appendonly no',
      '',
    ];
    const path = join(this.folder, 'redis.conf');
    // Arguments are visible to every user.
    await writeFile(path, lines.join('\n'), { mode: 0o600 });
    return { command: PROGRAM, args: [path] };
  }

  protected async addressOf([port]: readonly number[]): Promise<string> {
    return `redis://:${await ownPassword(this.folder)}@127.0.0.1:${port}`;
  }

  protected async isReady([port]: readonly number[]): Promise<boolean> {
    const text = `AUTH ${await ownPassword(this.folder)}\r\nPING\r\n`;
    return responds(port ?? 0, { text, response: '+PONG' });
  }
}
