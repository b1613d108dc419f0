import { hash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Database } from '@svc/storage';

/** Secrets that sign someone in once. Only their hashes are stored. */
@Injectable()
export class TicketStore {
  constructor(private readonly database: Database) {}

  /** Returns a new secret, of letters and digits, that stands for a subject once. */
  async issue(subject: string, validForMs: number): Promise<string> {
    const secret = randomBytes(32).toString('hex');
    await this.database.query(
      `INSERT INTO gateway.console_tickets (secret_sha256, subject, expires_at)
       VALUES ($1, $2, now() + $3 * interval '1 millisecond')`,
      [digestOf(secret), subject, validForMs],
    );
    return secret;
  }

  /** The subject of a secret, which no process accepts again. Undefined if it is unknown, used or expired. */
  async use(secret: string): Promise<string | undefined> {
    const [row] = await this.database.query<{ subject: string }>(
      `DELETE FROM gateway.console_tickets WHERE secret_sha256 = $1 AND expires_at > now() RETURNING subject`,
      [digestOf(secret)],
    );
    return row?.subject;
  }
}

const digestOf = (secret: string): Buffer => hash('sha256', secret, 'buffer');
