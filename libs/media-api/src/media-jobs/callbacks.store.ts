import { Injectable } from '@nestjs/common';
import { invalidRequest } from '@svc/contracts/problems';
import { Database } from '@svc/storage';

/** Where accounts may be called back: at the origins that their webhook endpoints have. */
@Injectable()
export class CallbacksStore {
  constructor(private readonly database: Database) {}

  /**
   * A key for inference may choose the URL, but its origin and its secret are up to an ADMIN key. Refuses:
   * INVALID_REQUEST.
   */
  async demandEndpoint(accountId: string, callbackUrl: string): Promise<void> {
    if ((await endpointOfOrigin(this.database, accountId, callbackUrl)) !== undefined) return;
    const message = `must have the origin of an enabled webhook endpoint of the account. Its secret signs the callback.`;
    throw invalidRequest([{ code: 'custom', path: ['callback_url'], message }]);
  }
}

/** The id of the account's oldest enabled webhook endpoint with the origin of a URL. */
export async function endpointOfOrigin(
  database: Database,
  accountId: string,
  url: string,
): Promise<string | undefined> {
  const endpoints = await database.query<{ id: string; url: string }>(
    `SELECT id, url FROM gateway.webhook_endpoints
     WHERE account_id = $1 AND state = 'enabled' ORDER BY created_at, id`,
    [accountId],
  );
  const { origin } = new URL(url);
  return endpoints.find((endpoint) => new URL(endpoint.url).origin === origin)?.id;
}
