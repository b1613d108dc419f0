import type { ReplyAt } from '../api/routes.js';

export type Endpoint = ReplyAt<'GET', '/api/v1/webhook_endpoints/:id'>;
export type SentDelivery = ReplyAt<'GET', '/api/v1/webhook_endpoints/:id/deliveries'>['data'][number];

/** What the form of an endpoint has. */
export interface EndpointTerms {
  readonly url: string;
  /** Types of events. */
  readonly events: readonly string[];
  readonly enabled: boolean;
}

/** A page of deliveries, newest first, and where the next one begins. */
interface DeliveryPage {
  readonly data: SentDelivery[];
  readonly nextBefore: string | null;
}

/** The endpoints of an account, or those of the operator, as the API has them. */
export interface EndpointCalls {
  /** What each type of event reports. */
  readonly events: Readonly<Record<string, string>>;
  readonly list: (signal: AbortSignal) => Promise<Endpoint[]>;
  /** An e-mail address has no secret, and is unconfirmed. */
  readonly create: (terms: EndpointTerms) => Promise<Endpoint & { readonly secret: string | null }>;
  /** Confirms an e-mail address. Absent where only servers are notified. */
  readonly confirm?: (id: string, code: string) => Promise<unknown>;
  readonly change: (current: Endpoint, terms: EndpointTerms) => Promise<unknown>;
  /** Gives an endpoint a new secret and returns it. The earlier one signs for `overlapSeconds` more. */
  readonly rotate: (id: string, overlapSeconds: number) => Promise<string | null>;
  readonly remove: (id: string) => Promise<unknown>;
  readonly deliveries: (id: string, before?: string, signal?: AbortSignal) => Promise<DeliveryPage>;
  readonly test: (id: string) => Promise<unknown>;
  readonly replay: (id: string, deliveryId: string) => Promise<unknown>;
}

/** The address of an endpoint that is notified by e-mail. */
export const mailAddress = ({ url }: Endpoint): string | undefined =>
  url.startsWith('mailto:') ? url.slice('mailto:'.length) : undefined;

/** The deliveries of a page. */
export const DELIVERIES_AT_ONCE = 20;

export const deliveryPage = (data: SentDelivery[]): DeliveryPage => ({
  data,
  nextBefore: data.length < DELIVERIES_AT_ONCE ? null : (data.at(-1)?.id ?? null),
});

/** Those of the known types that are chosen. */
export const chosenOf = <Type extends string>(
  events: Readonly<Record<Type, string>>,
  chosen: readonly string[],
): Type[] => (Object.keys(events) as Type[]).filter((type) => chosen.includes(type));

/** What is as it was is left out: a new URL may need a proof, and enabling begins again. */
export const changesOf = (current: Endpoint, { url, enabled }: EndpointTerms) => ({
  ...(url !== current.url && { url }),
  ...(enabled !== (current.state === 'enabled') && { enabled }),
});
