import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { PassingSet } from '../passing.js';
import type { Outgoing } from './incoming.js';

/** How long a client may leave a response unread; the same as for a stream. */
const UNREAD_MS = 60_000;

/** A connection buffers this much in any case. */
const SMALL_BYTES = 16_384;

/**
 * The requests of each connection whose responses have not ended. Fastify reports a response that was written
 * to its end; Node reports a closed connection only to the first response in its queue.
 */
export class OpenRequests {
  /** Nearly always one for a connection. */
  private readonly of = new WeakMap<Socket, Outgoing[]>();
  private readonly unread = new UnreadResponses();
  private readonly left: (reply: Outgoing) => void;

  /** Calls `left` for each request whose connection closes before the end of its response. */
  constructor(left: (reply: Outgoing) => void) {
    this.left = left;
  }

  begin(reply: Outgoing): void {
    const { socket } = reply.request.raw;
    let open = this.of.get(socket);
    if (!open) {
      this.of.set(socket, (open = []));
      socket.once('close', () => this.leave(socket));
    }
    open.push(reply);
  }

  /** Disconnects the client if it does not read the rest of the response once that has ended. */
  watch({ raw }: Outgoing): void {
    this.unread.begin(raw);
  }

  /** Whether the request was still open. */
  end(reply: Outgoing): boolean {
    this.unread.end(reply.raw);
    const open = this.of.get(reply.request.raw.socket);
    const at = open?.indexOf(reply) ?? -1;
    if (at !== -1) open?.splice(at, 1);
    return at !== -1;
  }

  private leave(socket: Socket): void {
    const open = this.of.get(socket);
    this.of.delete(socket);
    open?.forEach((reply) => {
      this.unread.end(reply.raw);
      this.left(reply);
    });
  }
}

/** How often responses are looked for that their clients leave unread. */
const SWEEP_MS = 5_000;

/**
 * Disconnects clients that do not read the rest of a response that has ended: it would stay in memory while
 * the client is connected. A client that reads slowly is given time.
 */
export class UnreadResponses {
  private readonly open = new PassingSet<ServerResponse>();
  private sweeping: NodeJS.Timeout | undefined;

  constructor(private readonly unreadMs = UNREAD_MS) {}

  begin(raw: ServerResponse): void {
    this.open.add(raw);
    this.sweeping ??= setInterval(() => this.sweep(), Math.min(SWEEP_MS, this.unreadMs)).unref();
  }

  end(raw: ServerResponse): void {
    this.open.delete(raw);
  }

  private sweep(): void {
    for (const raw of this.open) {
      const isUnread = raw.writableEnded && raw.writableLength > SMALL_BYTES;
      if (isUnread) raw.setTimeout(this.unreadMs, () => raw.destroy());
      if (isUnread || raw.destroyed) this.open.delete(raw);
    }
    if (this.open.size > 0) return;
    clearInterval(this.sweeping);
    this.sweeping = undefined;
  }
}
