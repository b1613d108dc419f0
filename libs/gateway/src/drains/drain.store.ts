import { Injectable } from '@nestjs/common';
import type { Drain } from '@svc/contracts/inference';
import { Database } from '@svc/storage';

interface DrainRow extends Omit<Drain, 'since' | 'until'> {
  readonly since: Date;
  readonly until: Date | null;
}

/** The most rows that are read: more than a catalogue has backends. */
const MOST = 10_000;

/** The backends that operators have taken out of service. */
@Injectable()
export class DrainStore {
  constructor(private readonly database: Database) {}

  /** Those whose time is not over. */
  async list(): Promise<Drain[]> {
    const rows = await this.database.query<DrainRow>(
      `SELECT model, name, state, reason, since, until FROM gateway.backend_drains
       WHERE until IS NULL OR until > now() ORDER BY model, name LIMIT ${MOST}`,
    );
    return rows.map(drainOf);
  }

  /** Takes a backend out of service, or changes how. */
  async set({ model, name, state, reason, until }: Omit<Drain, 'since'>): Promise<Drain> {
    const [row] = await this.database.query<DrainRow>(
      `INSERT INTO gateway.backend_drains (model, name, state, reason, until) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (model, name) DO UPDATE SET state = $3, reason = $4, until = $5, since = now()
       RETURNING model, name, state, reason, since, until`,
      [model, name, state, reason, until],
    );
    if (!row) throw new Error('the drain was not stored');
    return drainOf(row);
  }

  /** Puts a backend back. */
  async end(model: string, name: string): Promise<void> {
    await this.database.query('DELETE FROM gateway.backend_drains WHERE model = $1 AND name = $2', [
      model,
      name,
    ]);
  }
}

const drainOf = ({ since, until, ...row }: DrainRow): Drain => ({
  ...row,
  since: since.toISOString(),
  until: until?.toISOString() ?? null,
});
