import { createHash, randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { Problem } from '@svc/contracts/problems';
import { Database } from '@svc/storage';

/** The most mails with codes in a day. */
const MAILS_OF_ACCOUNT = 10;
const MAILS_TO_MAILBOX = 3;
/** Of all accounts, so that many of them cannot make the service a sender of unwanted mails. */
const MAILS_OF_SERVICE = 1_000;

/** The mails with codes, which are bounded since their receivers have not agreed to them. */
@Injectable()
export class ConfirmationsStore {
  constructor(private readonly database: Database) {}

  /** Counts a mail that is about to be sent. Refuses: TOO_MANY_CONFIRMATION_MAILS. */
  async take(accountId: string, address: string): Promise<void> {
    const mailbox = createHash('sha256').update(mailboxOf(address)).digest();
    const isTaken = await this.database.transaction(async (client) => {
      // One at a time, so that parallel requests do not pass the bounds together.
      await client.query(`SELECT pg_advisory_xact_lock(hashtextextended('gateway.confirmation_mails', 0))`);
      const { rowCount } = await client.query(
        `INSERT INTO gateway.confirmation_mails (id, account_id, mailbox_sha256)
         SELECT $1, $2, $3
         FROM (
           SELECT count(*) AS in_all, count(*) FILTER (WHERE account_id = $2) AS by_account,
             count(*) FILTER (WHERE mailbox_sha256 = $3) AS to_mailbox
           FROM gateway.confirmation_mails WHERE sent_at > now() - interval '1 day'
         ) AS sent
         WHERE by_account < ${MAILS_OF_ACCOUNT} AND to_mailbox < ${MAILS_TO_MAILBOX}
           AND in_all < ${MAILS_OF_SERVICE}`,
        [randomUUID(), accountId, mailbox],
      );
      return rowCount === 1;
    });
    if (!isTaken) throw new Problem('TOO_MANY_CONFIRMATION_MAILS');
  }
}

/** Most servers deliver `name+tag@host` to `name@host`, whatever the case. */
const mailboxOf = (address: string): string => address.toLowerCase().replace(/\+[^@]*@/, '@');
