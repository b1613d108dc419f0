import { spawnSync } from 'node:child_process';
import { DetachedServer, type Program } from './detached-server.js';
import { answers } from './ports.js';

const PROGRAM = 'redis-server';
const MISSING = `${PROGRAM} is not on the PATH. Install it (Debian and Ubuntu: apt-get install -y redis-server; macOS: brew install redis), or set REDIS_URL to a server that runs elsewhere.`;

/** A Redis that keeps nothing: what is in it may be lost at any time, and here it is. */
export class RedisServer extends DetachedServer {
  readonly variable = 'REDIS_URL';
  protected readonly portCount = 1;

  protected program([port]: readonly number[]): Promise<Program> {
    if (spawnSync(PROGRAM, ['--version'], { timeout: 10_000 }).status !== 0)
      return Promise.reject(new Error(MISSING));
    const settings = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no'];
    return Promise.resolve({ command: PROGRAM, args: settings });
  }

  protected addressOf([port]: readonly number[]): string {
    return `redis://127.0.0.1:${port}`;
  }

  protected isReady([port]: readonly number[]): Promise<boolean> {
    return answers(port ?? 0, { text: 'PING\r\n', answer: '+PONG' });
  }
}
