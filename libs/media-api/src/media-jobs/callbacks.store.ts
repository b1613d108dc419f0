import { Injectable } from '@nestjs/common';
import { invalidRequest } from '@svc/contracts/problems';
import { Database } from '@svc/storage';

/** Where accounts may be called back: at the origins that their webhook endpoints have. */
@Injectable()
export class CallbacksStore {
  constructor(private readonly database: Database) {}

  /**
   * Whoever has a key for inference chooses the URL, and an ADMIN key its origin and the secret. Refuses:
   * INVALID_REQUEST.
   */
  async demandEndpoint(accountId: string, callbackUrl: string): Promise<void> {
    const endpoints = await this.database.query<{ url: string }>(
      `SELECT url FROM gateway.webhook_endpoints WHERE account_id = $1 AND state = 'enabled'`,
      [accountId],
    );
    if (endpoints.some(({ url }) => isSameOrigin(url, callbackUrl))) return;
    const message = `must have the origin of an enabled webhook endpoint of the account. Its secret signs the callback.`;
    throw invalidRequest([{ code: 'custom', path: ['callback_url'], message }]);
  }
}

/** Of two valid URLs. */
export const isSameOrigin = (url: string, other: string): boolean =>
  new URL(url).origin === new URL(other).origin;
