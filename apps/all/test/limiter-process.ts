import { fileURLToPath } from 'node:url';
import { HttpLimiter } from '@svc/limiter';
import { RunningProcess } from '@svc/testing';

const MAIN = fileURLToPath(new URL('../../rate-limiter/dist/main.js', import.meta.url));

const TOKEN = 'internal-token-of-the-tests-of-limits';

/** A limiter in its real process, with a client. */
export class LimiterProcess {
  private constructor(
    readonly service: RunningProcess,
    readonly url: string,
    readonly limiter: HttpLimiter,
  ) {}

  static readonly token = TOKEN;

  static async start(redisUrl: string, env: Readonly<Record<string, string>> = {}): Promise<LimiterProcess> {
    const { service, match } = await RunningProcess.start(
      {
        main: MAIN,
        env: {
          PATH: process.env['PATH'] ?? '',
          NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
          PORT: '0',
          REDIS_URL: redisUrl,
          LIMITER_TOKEN: TOKEN,
          ...env,
        },
      },
      /listening on (http:\S+)/,
    );
    const url = match[1] ?? '';
    return new LimiterProcess(service, url, new HttpLimiter({ url, token: TOKEN, giveUpMs: 60_000 }));
  }

  async stop(): Promise<void> {
    await this.limiter.close();
    await this.service.stop();
  }
}
