import { createHash } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { RootLogger } from '@svc/runtime';
import type { Attempted, DueDelivery, LeasedEndpoint } from './delivery.store.js';
import { mailCode } from './mail-codes.js';
import { MailRefused, MailServer } from './mail-server.js';
import { mailOf } from './mail-texts.js';
import { WebhookSecrets } from './webhook-secrets.js';

/** Sends what is due to an e-mail address, in one mail. */
@Injectable()
export class MailNotices {
  constructor(
    private readonly server: MailServer,
    private readonly secrets: WebhookSecrets,
    private readonly logger: RootLogger,
  ) {}

  get areConfigured(): boolean {
    return this.server.isConfigured;
  }

  /** The outcome that all of the deliveries have. Rejects if the process stops. */
  async send(
    endpoint: LeasedEndpoint,
    { address, due }: { readonly address: string; readonly due: readonly DueDelivery[] },
    stopping: AbortSignal,
  ): Promise<Pick<Attempted, 'status' | 'fault' | 'isOurs'>> {
    const { id, url, secret } = endpoint;
    const code = mailCode(this.secrets.open(secret, id), url, Date.now());
    const sent = createHash('sha256').update([id, ...due.map(({ event_id }) => event_id)].join(' '));
    const mail = mailOf(
      due.map(({ body }) => body),
      code,
    );
    try {
      await this.server.send({ to: address, id: sent.digest('hex').slice(0, 32), ...mail }, stopping);
      return { status: null, fault: null };
    } catch (error) {
      stopping.throwIfAborted();
      if (!(error instanceof MailRefused)) throw error;
      const { code: cause, command } = (error.cause ?? {}) as { code?: unknown; command?: unknown };
      this.logger.log.warn(
        { endpoint: id, status: error.status, cause, command },
        'a mail could not be sent',
      );
      // Only the address itself is the customer's.
      return { status: error.status, fault: error.message, isOurs: command !== 'RCPT TO' };
    }
  }
}
