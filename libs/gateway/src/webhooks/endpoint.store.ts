import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { type WebhookEndpointView, addressIn } from '@svc/api/webhooks';
import { OPERATOR } from '@svc/contracts/messages';
import { Problem, invalidRequest } from '@svc/contracts/problems';
import { Database } from '@svc/storage';
import { isMailCode } from './mail-codes.js';
import { WebhookSecrets } from './webhook-secrets.js';

/** The most endpoints of an account, and of the operator. */
const ENDPOINTS_MAX = 10;

/** An endpoint as stored, without its secrets. */
export interface StoredEndpoint {
  readonly id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly state: WebhookEndpointView['state'];
  readonly created_at: Date;
}

/** What is wanted of an endpoint. */
interface NewEndpoint {
  readonly url: string;
  readonly events: readonly string[];
}

interface EndpointChange {
  readonly url?: string | undefined;
  readonly events?: readonly string[] | undefined;
  readonly enabled?: boolean | undefined;
}

/** An endpoint whose secret is shown. */
export interface MadeEndpoint {
  readonly endpoint: StoredEndpoint;
  readonly secret: Buffer;
}

const COLUMNS = `id, url, events, created_at, CASE WHEN unconfirmed THEN 'unconfirmed' ELSE state END AS state`;

/** SQL: whose endpoints they are. */
export const OWNED = `(account_id = $1 OR ($1 = '${OPERATOR}'::uuid AND account_id IS NULL))`;

/** The URLs to which events are delivered. Those of other accounts, or of the operator, are never visible. */
@Injectable()
export class WebhookEndpointStore {
  constructor(
    private readonly database: Database,
    private readonly secrets: WebhookSecrets,
  ) {}

  list(accountId: string): Promise<StoredEndpoint[]> {
    return this.database.query(
      `SELECT ${COLUMNS} FROM gateway.webhook_endpoints WHERE ${OWNED} ORDER BY created_at DESC, id`,
      [accountId],
    );
  }

  /** Refuses: WEBHOOK_ENDPOINT_NOT_FOUND. */
  async find(accountId: string, id: string): Promise<StoredEndpoint> {
    const rows = await this.database.query<StoredEndpoint>(
      `SELECT ${COLUMNS} FROM gateway.webhook_endpoints WHERE ${OWNED} AND id = $2`,
      [accountId, id],
    );
    return known(rows);
  }

  /** Refuses: INVALID_REQUEST if the owner has the most; WEBHOOKS_NOT_CONFIGURED. */
  async create(accountId: string, { url, events }: NewEndpoint): Promise<MadeEndpoint> {
    const id = randomUUID();
    const { secret, sealed } = this.secrets.make(id);
    const endpoint = await this.database.transaction(async (client) => {
      // Other requests of the account, or of the operator, wait, so that it does not get more than the most.
      await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`webhooks ${accountId}`]);
      const { rows } = await client.query<StoredEndpoint>(
        `INSERT INTO gateway.webhook_endpoints (id, account_id, url, events, secret, unconfirmed, state)
         SELECT $2, nullif($1::uuid, '${OPERATOR}'), $3, $4, $5, $6, CASE WHEN $6 THEN 'disabled' ELSE 'enabled' END
         WHERE (SELECT count(*) FROM gateway.webhook_endpoints WHERE ${OWNED}) < ${ENDPOINTS_MAX}
         RETURNING ${COLUMNS}`,
        [accountId, id, url, [...new Set(events)], sealed, addressIn(url) !== undefined],
      );
      return rows[0];
    });
    if (!endpoint)
      throw new Problem('INVALID_REQUEST', {
        message: `${accountId === OPERATOR ? 'The operator' : 'An account'} may have ${ENDPOINTS_MAX} webhook endpoints. Delete one before you create another.`,
      });
    return { endpoint, secret };
  }

  /** Refuses: WEBHOOK_ENDPOINT_NOT_FOUND; INVALID_REQUEST if an e-mail address would not be confirmed. */
  async change(accountId: string, id: string, change: EndpointChange): Promise<StoredEndpoint> {
    const { url, events, enabled } = change;
    demandSafe(await this.find(accountId, id), change);
    const rows = await this.database.query<StoredEndpoint>(
      `UPDATE gateway.webhook_endpoints SET url = coalesce($3, url), events = coalesce($4, events),
         state = CASE $5::boolean WHEN true THEN 'enabled' WHEN false THEN 'disabled' ELSE state END,
         failing_since = CASE WHEN $5 THEN NULL ELSE failing_since END,
         due_at = CASE WHEN $5 THEN now() ELSE due_at END
       WHERE ${OWNED} AND id = $2 RETURNING ${COLUMNS}`,
      [accountId, id, url, events && [...new Set(events)], enabled],
    );
    return known(rows);
  }

  /** Refuses: WEBHOOK_ENDPOINT_NOT_FOUND; INVALID_REQUEST for a wrong code. */
  async confirm(accountId: string, id: string, code: string): Promise<StoredEndpoint> {
    const [row] = await this.database.query<SealedEndpoint>(
      `SELECT ${COLUMNS}, secret FROM gateway.webhook_endpoints WHERE ${OWNED} AND id = $2`,
      [accountId, id],
    );
    if (!row) throw new Problem('WEBHOOK_ENDPOINT_NOT_FOUND', { param: 'id' });
    const { secret, ...endpoint } = row;
    if (endpoint.state !== 'unconfirmed') return endpoint;
    if (!isMailCode(this.secrets.open(secret, id), endpoint.url, code))
      throw refused('code', 'is wrong or has expired');
    const rows = await this.database.query<StoredEndpoint>(
      `UPDATE gateway.webhook_endpoints SET unconfirmed = false, state = 'enabled'
       WHERE ${OWNED} AND id = $2 RETURNING ${COLUMNS}`,
      [accountId, id],
    );
    return known(rows);
  }

  /** Refuses: WEBHOOK_ENDPOINT_NOT_FOUND. */
  async delete(accountId: string, id: string): Promise<void> {
    const rows = await this.database.query<StoredEndpoint>(
      `DELETE FROM gateway.webhook_endpoints WHERE ${OWNED} AND id = $2 RETURNING ${COLUMNS}`,
      [accountId, id],
    );
    known(rows);
  }

  /**
   * The secret until now signs for some seconds more. Refuses: WEBHOOK_ENDPOINT_NOT_FOUND,
   * WEBHOOKS_NOT_CONFIGURED, INVALID_REQUEST for an e-mail address.
   */
  async rotate(accountId: string, id: string, overlapSeconds: number): Promise<MadeEndpoint> {
    const { url } = await this.find(accountId, id);
    if (addressIn(url) !== undefined) throw refused('id', 'is an e-mail address, which has no secret');
    const { secret, sealed } = this.secrets.make(id);
    const rows = await this.database.query<StoredEndpoint>(
      `UPDATE gateway.webhook_endpoints SET secret = $3, earlier_secret = secret,
         earlier_secret_until = now() + make_interval(secs => $4)
       WHERE ${OWNED} AND id = $2 RETURNING ${COLUMNS}`,
      [accountId, id, sealed, overlapSeconds],
    );
    return { endpoint: known(rows), secret };
  }

  /** Encrypts the stored secrets with the first key, so that the second one is needed no more. */
  async sealAgain(): Promise<void> {
    for (let after = FIRST_ID; ;) {
      const rows = await this.database.query<SealedRow>(
        `SELECT id, secret, earlier_secret FROM gateway.webhook_endpoints WHERE id > $1 ORDER BY id LIMIT ${PAGE}`,
        [after],
      );
      for (const { id, secret, earlier_secret: earlier } of rows)
        await this.database.query(
          'UPDATE gateway.webhook_endpoints SET secret = $3, earlier_secret = $4 WHERE id = $1 AND secret = $2',
          [id, secret, this.secrets.sealAgain(secret, id), earlier && this.secrets.sealAgain(earlier, id)],
        );
      const last = rows.at(-1);
      if (!last || rows.length < PAGE) return;
      after = last.id;
    }
  }
}

interface SealedEndpoint extends StoredEndpoint {
  readonly secret: Buffer;
}

interface SealedRow {
  readonly id: string;
  readonly secret: Buffer;
  readonly earlier_secret: Buffer | null;
}

const FIRST_ID = '00000000-0000-0000-0000-000000000000';
const PAGE = 500;

function known([endpoint]: readonly StoredEndpoint[]): StoredEndpoint {
  if (!endpoint) throw new Problem('WEBHOOK_ENDPOINT_NOT_FOUND', { param: 'id' });
  return endpoint;
}

/**
 * Anyone who has the secret of an endpoint can make the codes of its address. That of a server was shown, so
 * its endpoint cannot become one for an address.
 */
function demandSafe(current: StoredEndpoint, { url, enabled }: EndpointChange): void {
  const isMail = addressIn(current.url) !== undefined;
  if (url !== undefined && url !== current.url && (isMail || addressIn(url) !== undefined))
    throw refused('url', 'of an e-mail address cannot be changed: create another endpoint');
  if (enabled === true && current.state === 'unconfirmed')
    throw refused('enabled', 'needs a confirmed e-mail address: send the code to `/confirm`');
}

const refused = (name: string, message: string): Problem =>
  invalidRequest([{ code: 'custom', path: [name], message }]);
