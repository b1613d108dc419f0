import type { AccountEvent, AccountEventType } from '@svc/contracts/messages';

/** The event whose mail has the code of an address. */
export const CONFIRMATION = 'webhook_endpoint.confirmation';

/** The longest value in a mail. */
const VALUE_MAX = 500;

const TEXTS: Readonly<Record<AccountEventType | 'webhook.test', string>> = {
  'balance.low': 'A balance is low',
  'key.spend_threshold': 'An API key has spent an amount that you set',
  'end_user.spend_threshold': 'One of your users has spent an amount that you set',
  'key.expiring': 'An API key expires soon',
  'payment.settled': 'A payment was credited',
  'payment.reversed': 'The credit of a payment was taken back',
  'refund.created': 'A charge was refunded',
  'account.suspended': 'The account is suspended',
  'account.resumed': 'The suspension of the account has ended',
  'video.completed': 'A video is ready',
  'video.failed': 'A video has failed',
  'music.completed': 'Music is ready',
  'music.failed': 'Music has failed',
  'batch.completed': 'A batch is done',
  'batch.expired': 'A batch has expired',
  'batch.cancelled': 'A batch was cancelled',
  'model.deprecated': 'A model is deprecated',
  'webhook_endpoint.disabled': 'A webhook endpoint gets no more events',
  'webhook.test': 'A test of your notices',
};

/** An event as deliveries store it. */
interface Envelope {
  readonly id: string;
  readonly type: string;
  readonly created_at: number;
  readonly data: AccountEvent['data'];
}

/** What a mail says of some events. */
export function mailOf(
  bodies: readonly string[],
  code: string,
): { readonly subject: string; readonly text: string } {
  const events = bodies.map((body) => JSON.parse(body) as Envelope);
  const [first] = events;
  const subject = events.length === 1 && first ? subjectOf(first) : `${events.length} notices`;
  const parts = events.map((event) => (event.type === CONFIRMATION ? confirmation(code) : notice(event)));
  return { subject, text: `${parts.join('\n\n')}\n` };
}

function subjectOf({ type }: Envelope): string {
  if (type === CONFIRMATION) return 'Confirm this e-mail address';
  return Object.hasOwn(TEXTS, type) ? TEXTS[type as keyof typeof TEXTS] : 'A notice';
}

const confirmation = (code: string): string => `An account wants its notices to be sent to this address.

The code is: ${code}

To confirm, enter it at the endpoint on the page Webhooks of the console, or send it to
POST /api/v1/webhook_endpoints/{id}/confirm. It is valid until the end of the next day (UTC).

If you do not expect this, ignore it: without the code, no notices are sent to you.`;

function notice(event: Envelope): string {
  const at = new Date(event.created_at * 1_000).toISOString();
  const values = Object.entries(event.data).map(([name, value]) => `  ${name}: ${printable(value)}`);
  return [`${subjectOf(event)}.`, '', ...values, `  event: ${event.type} ${event.id}`, `  at: ${at}`].join(
    '\n',
  );
}

/** One line, whatever a reason contains. */
const printable = (value: unknown): string =>
  String(value)
    .replaceAll(/\p{C}+/gu, ' ')
    .slice(0, VALUE_MAX);
