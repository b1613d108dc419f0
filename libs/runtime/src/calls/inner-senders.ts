import type { Duplex } from 'node:stream';
import type { Caller } from '@svc/contracts/ports';

/** For whom this process sends a request to itself, and the id of the request. */
export interface InnerSender {
  readonly caller: Caller;
  readonly requestId: string;
}

const senders = new WeakMap<object, InnerSender>();

/** Marks a connection that this process has made to itself. */
export function markInner(connection: Duplex, sender: InnerSender): void {
  senders.set(connection, sender);
}

/** The sender of a request, if it came on such a connection. No client can pose as one. */
export function innerSenderOf({
  raw,
}: {
  readonly raw: { readonly socket: object };
}): InnerSender | undefined {
  return senders.get(raw.socket);
}
