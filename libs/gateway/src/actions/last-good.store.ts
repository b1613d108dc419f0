import type { LastGood } from '@svc/catalog';
import type { FileInForce } from '@svc/api/operator';
import { RESPONSE_JSON_LIMITS, boundedJson } from '@svc/runtime';
import type { Database } from '@svc/storage';

/** The last good versions of the operator's files, shared by all gateways. */
export class LastGoodStore implements LastGood {
  constructor(private readonly database: Database) {}

  async read(name: string): Promise<FileInForce | undefined> {
    const [kept] = await this.database.query<{ hash: string; content: string }>(
      'SELECT hash, content FROM gateway.last_good_files WHERE name = $1',
      [name],
    );
    return kept && { hash: kept.hash, content: boundedJson(kept.content, RESPONSE_JSON_LIMITS) };
  }

  async write(name: string, { hash, content }: FileInForce): Promise<void> {
    await this.database.query(
      `INSERT INTO gateway.last_good_files AS kept (name, hash, content) VALUES ($1, $2, $3)
       ON CONFLICT (name) DO UPDATE SET hash = $2, content = $3, at = now() WHERE kept.hash <> $2`,
      [name, hash, JSON.stringify(content)],
    );
  }
}
